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

// As gnuplot escapes what stands between tags.
std::string escape_text(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  }
  return escaped;
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
  CHECK(contains(script,
                 R"(set xlabel 'it'."'".'s `id` set output '."'".'x'."'".' (logarithmic)' )"));
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
  Figure figure = sample_figure("one");
  CHECK(contains(gnuplot_script(figure), "set xtics (6, 12, 24)"));
  // Where their labels would meet they are not.
  figure.series = {{"s", Series::Kind::points, {6, 6.1, 24}, {1, 2, 3}}};
  CHECK_FALSE(contains(gnuplot_script(figure), "set xtics"));
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
  CHECK(count(svg, "<path stroke='rgb(  0, 114, 178)' class='series1-line'") == 1);
  CHECK(count(svg, "class='series1-area'") == 1);
  CHECK(count(svg, "class='series1-mark'") == 4);  // three points and the key
  CHECK(count(svg, "class='series2-mark'") == 3);
  CHECK_FALSE(contains(svg, "black"));
  CHECK_FALSE(contains(svg, "<b "));
  CHECK(contains(svg, "&lt;b onload="));
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("gnuplot_script: theories are drawn last, above the points that would hide them") {
  Figure figure = sample_figure("one");
  figure.series = {{"law", Series::Kind::theory, {1, 2}, {1, 2}},
                   {"dots", Series::Kind::points, {1, 2}, {1, 2}},
                   {"band", Series::Kind::band, {1, 2}, {1, 2}, {1, 2}, {1, 2}}};
  const std::string script = gnuplot_script(figure);
  CHECK(script.find("filledcurves") < script.find("title 'dots'"));
  CHECK(script.find("title 'band'") < script.find("title 'law'"));
  CHECK(script.find("title 'dots'") < script.find("title 'law'"));
}

TEST_CASE("gnuplot_script: a logarithmic axis is named once") {
  Figure figure = sample_figure("one");
  figure.x_label = "layers L (logarithmic)";
  CHECK(contains(gnuplot_script(figure), "set xlabel 'layers L (logarithmic)' "));
  CHECK(contains(gnuplot_script(figure), "set ylabel 'size (logarithmic)' "));
  figure.log_y = false;
  CHECK(contains(gnuplot_script(figure), "set ylabel 'size' "));
}

TEST_CASE("figure_style: every colour of a series has a contrast of 3 at least on its paper") {
  const auto luminance = [](const std::string& hex) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
      const double linear = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
      sum += linear * (i == 0 ? 0.2126 : i == 1 ? 0.7152 : 0.0722);
    }
    return sum;
  };
  for (const SeriesColor& color : kSeriesPalette) {
    CAPTURE(color.light);
    CHECK(1.05 / (luminance(color.light) + 0.05) >= 3.0);
    CHECK((luminance(color.dark) + 0.05) / (luminance("#15181c") + 0.05) >= 3.0);
  }
}

TEST_CASE("figure: a logarithmic axis has at least two labels, however short or long its range") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(draw(sample_figure("one"), {}, SvgFor::page).svg.empty());
    return;
  }
  for (const double low : {2.2, 0.031, 7e4}) {
    for (const double factor : {1.0, 1.02, 1.4, 2.0, 9.0, 1e3, 1e5, 1e20}) {
      CAPTURE(low);
      CAPTURE(factor);
      Figure figure = sample_figure("short");
      figure.series = {{"a", Series::Kind::points, {1.0, 2.0}, {low, low * factor}}};
      // Labels of the y axis end at it; those of the x axis have their middle at a tick.
      const int labels = count(draw(figure, {}, SvgFor::page).svg, "text-anchor=\"end\"");
      CHECK(labels >= 2);
      CHECK(labels <= 14);
    }
  }
}

TEST_CASE("figure: the real gnuplot draws every text as it is") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(draw(sample_figure("one"), {}, SvgFor::page).svg.empty());
    return;
  }
  for (const std::string text :
       {"'quoted'", "a''b", "''", "'", "it's 'so'", "\"double\"", "back\\slash\\", "`id`", "$HOME",
        "100 %", "%g %d %%", "{/Bold x}_2^3", "a; set output 'x'", "#ff0000", "größe", "@x", "NaN",
        "\\n", "<b>&amp;"}) {
    CAPTURE(text);
    Figure figure = sample_figure("one");
    figure.log_x = figure.log_y = false;
    figure.x_label = figure.y_label = figure.series[0].name = text;
    HeatMap map = sample_heat_map("one");
    map.rows[0] = map.columns[0] = map.x_label = map.y_label = map.scale = text;
    map.cells[0][0].text = map.cells[1][0].text = text;
    Panel panel = sample_panel("one");
    panel.x_label = panel.plots[0].title = panel.plots[1].series[1].name = text;
    const std::string shown = ">" + escape_text(text) + "</text>";
    const DrawnFigure drawn = draw(figure, {}, SvgFor::page);
    CHECK(drawn.problem.empty());
    CHECK(count(drawn.svg, shown) == 3);
    CHECK(count(draw(map, {}, SvgFor::page).svg, shown) == 7);
    CHECK(count(draw(panel, {}, SvgFor::page).svg, shown) == 3 + 2);  // an x label for each plot
  }
}
