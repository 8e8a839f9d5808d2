#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/report/figure_svg.hpp"
#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

// How a series is drawn: its kind of line, its colour and its dashes.
std::string style_of(const std::string& script, const std::string& data) {
  const std::string start = data + " using 1:2 ";
  const std::size_t at = script.find(start) + start.size();
  return script.substr(at, script.find("notitle", at) - at);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("panel: all plots have the axes that hold every point, and their labels") {
  const std::string script = gnuplot_script(sample_panel("one"));
  // Ranges are set once, from a plot of everything.
  CHECK(count(script, "set xrange") == 1);
  CHECK(count(script, "\nplot ") == 1 + 3 + 1);  // everything, three plots, the key
  CHECK(contains(script, "set title 'empty' offset 0,-0.4\nplot NaN notitle\n"));
  if (gnuplot_is_missing()) return;
  const std::string svg = draw(sample_panel("one"), {}, SvgFor::page).svg;
  // y from 2 to 9; what is not negative begins at zero.
  for (const char* label : {"0", "8", "epoch", "loss"}) {
    CAPTURE(label);
    CHECK(count(svg, std::string(">") + label + "</text>") == 3);
  }
}

TEST_CASE("panel: series of one name look the same in every plot and in the key") {
  const std::string script = gnuplot_script(sample_panel("one"));
  const std::string slow = style_of(script, "$series0"), fast = style_of(script, "$series1");
  CHECK_FALSE(slow == fast);
  CHECK(fast == style_of(script, "$series2"));
  CHECK(contains(script, "NaN " + slow + "title 'slow'"));
  CHECK(contains(script, "NaN " + fast + "title 'fast'"));
  CHECK(count(script, " title '") == 3 + 3);  // of the plots, and of the key alone
}

TEST_CASE("panel: a name that comes twice is one entry of the key") {
  Panel panel = sample_panel("one");
  panel.plots[0].series.push_back(panel.plots[0].series[0]);
  CHECK(count(gnuplot_script(panel), "title 'slow'") == 1);
  CHECK(size_of(panel).height == size_of(sample_panel("one")).height);
}

TEST_CASE("panel: without any number there is nothing to draw") {
  Panel panel = sample_panel("one");
  panel.plots.erase(panel.plots.begin(), panel.plots.begin() + 2);
  CHECK(gnuplot_script(panel).empty());
  CHECK(draw(panel, {"normlab-no-such-gnuplot"}, SvgFor::page).problem ==
        "it has no finite number to draw");
}

TEST_CASE("panel: when gnuplot fails the reason is given") {
  const PlotterStandIn stand_in("exit 3");
  CHECK(draw(sample_panel("one"), {stand_in.program()}, SvgFor::page).problem == "gnuplot failed");
  CHECK_THROWS_WITH_AS(svg_of(sample_panel("one"), {stand_in.program()}),
                       doctest::Contains("one: cannot be drawn: gnuplot failed"),
                       std::runtime_error);
}

TEST_CASE("panel: four plots stand two by two, others in rows of three") {
  const auto layout = [](std::size_t plots) {
    Panel panel = sample_panel("one");
    panel.plots.resize(plots, panel.plots[0]);
    const std::string script = gnuplot_script(panel);
    const std::size_t at = script.find("layout ") + 7;
    return script.substr(at, script.find(' ', at) - at);
  };
  CHECK(layout(1) == "1,1");
  CHECK(layout(2) == "1,2");
  CHECK(layout(4) == "2,2");
  CHECK(layout(7) == "3,3");
}

TEST_CASE("panel: parts that do not fit together are refused, and panel and plot are named") {
  const auto refused = [](auto change, const char* message) {
    Panel panel = sample_panel("one");
    change(panel);
    CAPTURE(message);
    CHECK_THROWS_WITH_AS(check_figure(panel), doctest::Contains(message), std::invalid_argument);
  };
  CHECK_NOTHROW(check_figure(sample_panel("one")));
  refused([](Panel& panel) { panel.name = "a-b"; }, "panel a-b: name");
  refused([](Panel& panel) { panel.alt.clear(); }, "panel one: alt");
  refused([](Panel& panel) { panel.plots.clear(); }, "panel one: plots");
  refused([](Panel& panel) { panel.plots[1].series[0].y.pop_back(); },
          "panel one: plot warm: series");
  refused([](Panel& panel) { panel.plots[1].series[0].kind = Series::Kind::points; },
          "panel one: plot warm: series: must be of the same kind");
}

TEST_CASE("panel: the real gnuplot draws one file of all plots, twice the same") {
  Panel panel = sample_panel("one");
  panel.title = panel.alt = panel.x_label = panel.plots[0].title = kHostile;
  panel.plots[1].series[1].name = kHostile;
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK_THROWS_AS(svg_of(panel), std::runtime_error);
    return;
  }
  const std::string svg = svg_of(panel);
  CHECK(svg == svg_of(panel));
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(count(svg, "<g id=\"one-gnuplot_canvas\"") == 1);
  // The third name is a theory's, which has the text's colour.
  CHECK(contains(svg, "class='series1-line'"));
  CHECK(contains(svg, "class='series2-line'"));
  CHECK_FALSE(contains(svg, "class='series3-line'"));
  CHECK_FALSE(contains(svg, "black"));
  CHECK_FALSE(contains(svg, "<b "));
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("panel: the key has one column, however long") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(draw(sample_panel("one"), {}, SvgFor::page).svg.empty());
    return;
  }
  Panel panel = sample_panel("one");
  for (int i = 0; i < 20; ++i) {
    panel.plots[0].series.push_back(panel.plots[0].series[0]);
    panel.plots[0].series.back().name = "series " + std::to_string(i);
  }
  const std::string svg = draw(panel, {}, SvgFor::page).svg;
  std::set<std::string> columns;
  int names = 0;
  for (std::size_t at = 0; (at = svg.find(">series ", at)) != std::string::npos; ++at, ++names) {
    const std::size_t place = svg.rfind("translate(", at) + 10;
    columns.insert(svg.substr(place, svg.find(',', place) - place));
  }
  CHECK(names == 20);
  CHECK(columns.size() == 1);
}
