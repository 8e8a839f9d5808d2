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

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string line_with(const std::string& script, const std::string& start) {
  const std::size_t at = script.find(start);
  return at == std::string::npos ? "" : script.substr(at, script.find('\n', at) - at);
}

// How a series of a script is drawn: its kind of line, its colour and its dashes.
std::string style_of(const std::string& script, const std::string& data) {
  const std::size_t at = script.find(" with line", script.find(data + " using 1:2 with line"));
  return script.substr(at, script.find("notitle", at) - at);
}

}  // namespace

TEST_CASE("panel: all plots have the axes that hold every point") {
  Panel panel = sample_panel("one");
  const PanelScripts scripts = gnuplot_scripts(panel);
  REQUIRE(scripts.plots.size() == 3);
  for (const char* command : {"set xrange", "set yrange", "set xtics", "set xlabel"}) {
    CAPTURE(command);
    const std::string first = line_with(scripts.plots[0], command);
    CHECK_FALSE(first.empty());
    for (const std::string& script : scripts.plots) CHECK(line_with(script, command) == first);
  }
  // x from 1 to 3, y from 2 to 9, with a margin of 5 %; what is not negative begins at zero.
  CHECK(line_with(scripts.plots[0], "set xrange") == "set xrange [0.9:3.1]");
  CHECK(line_with(scripts.plots[0], "set yrange") == "set yrange [0:9.35]");
  CHECK(contains(scripts.plots[2], "plot NaN notitle"));  // its only point is none
}

TEST_CASE("panel: series of one name look the same in every plot and in the key") {
  const PanelScripts scripts = gnuplot_scripts(sample_panel("one"));
  const std::string fast = style_of(scripts.plots[0], "$series1");
  CHECK_FALSE(fast == style_of(scripts.plots[0], "$series0"));
  CHECK(fast == style_of(scripts.plots[1], "$series0"));
  CHECK(contains(scripts.key, "NaN" + fast + "title 'fast'"));
  CHECK(contains(scripts.key, "title 'slow'"));
  CHECK(contains(scripts.key, "title 'chance'"));
  for (const std::string& script : scripts.plots) {
    CHECK_FALSE(contains(script, " title "));
  }
}

TEST_CASE("panel: a name that comes twice is one entry of the key") {
  Panel panel = sample_panel("one");
  const std::string key = gnuplot_scripts(panel).key;
  panel.plots[0].series.push_back(panel.plots[0].series[0]);
  CHECK(gnuplot_scripts(panel).key == key);
  CHECK(contains(gnuplot_scripts(panel).plots[0], "$series2"));
}

TEST_CASE("panel: without any number there is nothing to draw") {
  Panel panel = sample_panel("one");
  panel.plots.erase(panel.plots.begin(), panel.plots.begin() + 2);
  CHECK(gnuplot_scripts(panel).plots.empty());
  CHECK(draw(panel, {"normlab-no-such-gnuplot"}).problem == "it has no finite number to draw");
}

TEST_CASE("panel: when gnuplot fails it is started once, and nothing is drawn") {
  const PlotterStandIn stand_in("echo >> \"$0.started\"; exit 3");
  const DrawnPanel drawn = draw(sample_panel("one"), {stand_in.program()});
  CHECK(drawn.plots.empty());
  CHECK(drawn.problem == "gnuplot failed");
  CHECK(std::filesystem::file_size(stand_in.program() + ".started") == 1);
  CHECK_THROWS_WITH_AS(svg_of(sample_panel("one"), {stand_in.program()}),
                       doctest::Contains("one: cannot be drawn: gnuplot failed"),
                       std::runtime_error);
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
  for (const char* ids : {"one-1-", "one-2-", "one-3-", "one-key-"}) {
    CAPTURE(ids);
    CHECK(contains(svg, std::string("<g id=\"") + ids + "gnuplot_canvas\""));
  }
  // The third name is a theory's, which has the text's colour.
  CHECK(contains(svg, "class='series1-line'"));
  CHECK(contains(svg, "class='series2-line'"));
  CHECK_FALSE(contains(svg, "class='series3-line'"));
  CHECK_FALSE(contains(svg, "black"));
  CHECK_FALSE(contains(svg, "<b "));
  CHECK(contains(svg, ">" + escape_markup(kHostile) + "</text>"));
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("panel: the key has one column, however long") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(draw(sample_panel("one"), {}).key.empty());
    return;
  }
  Panel panel = sample_panel("one");
  for (int i = 0; i < 20; ++i) {
    panel.plots[0].series.push_back(panel.plots[0].series[0]);
    panel.plots[0].series.back().name = "series " + std::to_string(i);
  }
  const std::string key = draw(panel, {}).key;
  std::set<std::string> columns;
  for (std::size_t at = 0; (at = key.find("translate(", at)) != std::string::npos; ++at) {
    columns.insert(key.substr(at + 10, key.find(',', at) - at - 10));
  }
  CHECK(columns.size() == 1);
}
