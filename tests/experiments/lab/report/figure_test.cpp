#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/report/figure_colors.hpp"
#include "experiments/lab/report/figure_svg.hpp"
#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// What gnuplot 5.4 writes, shortened: a frame, a symbol, a filter, a plot with its title.
constexpr const char* kGnuplotSvg = R"(echo '<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink">
<title>Gnuplot</title><desc>Produced by GNUPLOT</desc>
<g id="gnuplot_canvas">
<defs><circle id='"'gpPt0'"' r='"'1'"'/><filter id='"'box'"'><feFlood/></filter></defs>
<g id="gnuplot_plot_1" ><title>gnuplot_plot_1</title>
<g stroke="none" fill="black"><text>id="label" stroke="black"</text></g>
<path stroke='"'rgb(  0, 114, 178)'"' d='"'M0,0'"'/>
<use xlink:href='"'#gpPt0'"' color='"'rgb(  0, 114, 178)'"'/></g></g></svg>')";

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("escape_markup: text stays text") {
  CHECK(escape_markup("<a b='c' d=\"e\">&amp;\x01|") ==
        "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp; |");
}

TEST_CASE("gnuplot_script: labels are quoted and special text is off") {
  Figure figure = sample_figure("one");
  figure.x_label = "it's `id`\nset output 'x'";
  const std::string script = gnuplot_script(figure);
  CHECK(contains(script, "noenhanced"));
  CHECK(contains(script, "set xlabel 'it''s `id` set output ''x''' "));
}

TEST_CASE("gnuplot_script: points that cannot be drawn are gaps") {
  Figure figure = sample_figure("one");
  figure.series = {{"s", Series::Kind::points, {1, 2, 3, 4}, {1, kNaN, 0, 4}}};
  CHECK(contains(gnuplot_script(figure), "1 1 1 1\n\n\n4 4 4 4\n"));
  figure.log_y = false;
  CHECK(contains(gnuplot_script(figure), "1 1 1 1\n\n3 0 0 0\n4 4 4 4\n"));
  figure.series = {{"s", Series::Kind::points, {1}, {kNaN}}};
  CHECK(gnuplot_script(figure).empty());
}

TEST_CASE("gnuplot_script: a band with an infinite end is a gap") {
  Figure figure = sample_figure("one");
  figure.series = {{"s", Series::Kind::band, {1, 2}, {1, 1}, {1, 1}, {1, HUGE_VAL}}};
  CHECK(contains(gnuplot_script(figure), "1 1 1 1\n\nEND"));
}

TEST_CASE("gnuplot_script: series differ in mark and dash as well as in colour") {
  Figure figure = sample_figure("one");
  figure.series.clear();
  std::map<std::string, int> styles;
  for (int i = 0; i < 12; ++i) {
    figure.series.push_back({"s", Series::Kind::band, {1, 2}, {1, 2}, {1, 2}, {1, 2}});
  }
  const std::string script = gnuplot_script(figure);
  for (std::size_t at = 0; (at = script.find("with linespoints", at)) != std::string::npos;) {
    const std::size_t end = script.find(" title", at);
    ++styles[script.substr(at, end - at)];
    at = end;
  }
  CHECK(styles.size() == 12);
}

TEST_CASE("gnuplot_script: a line has a colour and dashes, no marks") {
  Figure figure = sample_figure("one");
  figure.series = {{"a", Series::Kind::line, {1, 2}, {1, 2}},
                   {"b", Series::Kind::line, {1, 2}, {1, 2}}};
  CHECK(contains(gnuplot_script(figure),
                 "$series1 using 1:2 with lines linecolor rgb '#D55E00' linewidth 2 dashtype (9,4) "
                 "title 'b'"));
}

TEST_CASE("gnuplot_script: few depths are the ticks of a logarithmic axis") {
  CHECK(contains(gnuplot_script(sample_figure("one")), "set xtics ('6' 6, '12' 12, '24' 24)"));
}

TEST_CASE("draw: gnuplot's drawing gets ids of its own, colour classes and the text's colour") {
  const PlotterStandIn stand_in(kGnuplotSvg);
  const DrawnFigure drawn = draw(sample_figure("one"), {stand_in.program()}, SvgFor::page);
  CHECK(drawn.problem.empty());
  CHECK(contains(drawn.svg, "<circle id='one-gpPt0'"));
  CHECK(contains(drawn.svg,
                 "<use href='#one-gpPt0' color='rgb(  0, 114, 178)' "
                 "class='series1-mark'/>"));
  CHECK(contains(drawn.svg, "<path stroke='rgb(  0, 114, 178)' class='series1-line' "));
  CHECK(contains(drawn.svg, "fill=\"currentColor\"><text>id=\"label\" stroke=\"black\"</text>"));
  CHECK_FALSE(contains(drawn.svg, "gnuplot_plot_1</title>"));
  CHECK_FALSE(contains(drawn.svg, "filter"));
  CHECK_FALSE(contains(drawn.svg, "http"));
  CHECK_FALSE(contains(drawn.svg, "GNUPLOT"));
}

TEST_CASE("draw: the drawing is named and described") {
  const PlotterStandIn stand_in(kGnuplotSvg);
  Figure figure = sample_figure("one");
  figure.title = figure.alt = kHostile;
  const std::string svg = draw(figure, {stand_in.program()}, SvgFor::page).svg;
  CHECK(contains(svg, "role=\"img\" aria-labelledby=\"one-title one-desc\""));
  CHECK(contains(svg, "<title id=\"one-title\">" + escape_markup(kHostile) + "</title>"));
  CHECK(contains(svg, "<desc id=\"one-desc\">" + escape_markup(kHostile) + "</desc>"));
  CHECK(contains(svg, "viewBox=\"0 0 "));
}

TEST_CASE("draw: what is no SVG is a problem") {
  const PlotterStandIn stand_in("echo hello");
  const DrawnFigure drawn = draw(sample_figure("one"), {stand_in.program()}, SvgFor::page);
  CHECK(drawn.svg.empty());
  CHECK(drawn.problem == "gnuplot wrote no SVG");
}

TEST_CASE("check_figure: parts that do not fit together are refused") {
  Figure figure = sample_figure("one");
  figure.series[0].low.pop_back();
  CHECK_THROWS_AS(check_figure(figure), std::invalid_argument);
  figure = sample_figure("no spaces");
  CHECK_THROWS_AS(check_figure(figure), std::invalid_argument);
  figure = sample_figure("one");
  figure.alt.clear();
  CHECK_THROWS_AS(check_figure(figure), std::invalid_argument);
}

TEST_CASE("svg_of: a file of its own has the namespace, both colour schemes and no other URL") {
  const PlotterStandIn stand_in(kGnuplotSvg);
  const std::string svg = svg_of(sample_figure("one"), {stand_in.program()});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(contains(svg, "@media (prefers-color-scheme:dark)"));
  CHECK(count(svg, "://") == 1);
}

TEST_CASE("svg_of: the real gnuplot draws every series, twice the same") {
  Figure figure = sample_figure("one");
  figure.series[1].name = kHostile;
  figure.x_label = figure.y_label = kHostile;
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK_THROWS_AS(svg_of(figure), std::runtime_error);
    return;
  }
  const std::string svg = svg_of(figure);
  CHECK(svg == svg_of(figure));
  CHECK(count(svg, "class='series1-line'") == 1);
  CHECK(count(svg, "class='series1-area'") == 1);
  CHECK(count(svg, "class='series1-mark'") == 4);  // three points and the key
  CHECK(count(svg, "class='series2-mark'") == 3);
  CHECK_FALSE(contains(svg, "black"));
  CHECK_FALSE(contains(svg, "<b "));
  CHECK(contains(svg, "&lt;b onload="));
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("figure: a logarithmic axis has at least two labels, however short its range") {
  for (const double low : {2.2, 0.031, 6.1, 1.0, 7e4}) {
    for (const double factor : {1.02, 1.1, 1.4, 2.0, 9.0}) {
      CAPTURE(low);
      CAPTURE(factor);
      Figure figure = sample_figure("short");
      figure.log_y = true;
      figure.series = {{"a", Series::Kind::points, {1.0, 2.0}, {low, low * factor}}};
      const std::string script = gnuplot_script(figure);
      const std::size_t begin = script.find("set ytics (");
      REQUIRE(begin != std::string::npos);
      const std::string ticks = script.substr(begin, script.find('\n', begin) - begin);
      CHECK(std::count(ticks.begin(), ticks.end(), '\'') >= 2 * 2);
    }
  }
}
