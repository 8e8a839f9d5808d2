#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/report/figure_svg.hpp"
#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The relative luminance of the colour that stands at `at` as "#rrggbb", and the contrast of two,
// by the definitions of the Web Content Accessibility Guidelines 2.2.
double luminance_at(const std::string& text, std::size_t at) {
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(text.substr(at + 1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum += kWeights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(double one, double other) {
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

// The step of the first row's cell in a column, 0 to 8, or what stands in its place.
std::string step_of_cell(const HeatMap& map, int column) {
  const std::string script = gnuplot_script(map), start = "\n" + std::to_string(column) + " 0 ";
  const std::size_t at = script.find(start) + start.size();
  return script.substr(at, script.find('\n', at) - at);
}

}  // namespace

TEST_CASE("heat map: a cell's colour is one of nine equal steps of the scale") {
  HeatMap map = sample_heat_map("one");
  map.rows = {"row"};
  map.columns = {"1", "2", "3", "4", "5", "6"};
  map.low = 10.0;
  map.high = 100.0;
  map.cells = {{{10, "a"}, {19.9, "b"}, {20.1, "c"}, {100, "d"}, {1e308, "e"}, {-1e308, "f"}}};
  std::string steps;
  for (int column = 0; column < 6; ++column) steps += step_of_cell(map, column);
  CHECK(steps == "001880");
  map.low = -1.7e308;
  map.high = 1.7e308;
  CHECK(step_of_cell(map, 0) == "4");
}

TEST_CASE("heat map: what is no finite number has no colour and keeps its text, or gets a dash") {
  HeatMap map = sample_heat_map("one");
  map.cells = {{{kNaN, "div"}, {HUGE_VAL, "inf"}}, {{}, {97.2, "97.2"}}};
  const std::string script = gnuplot_script(map);
  CHECK(step_of_cell(map, 0) == "NaN");
  CHECK(step_of_cell(map, 1) == "NaN");
  CHECK(contains(script, "set label 'div' at 0,0 center front\n"));
  CHECK(contains(script, "set label '–' at 0,1 center front\n"));
  CHECK(contains(script, "set label '97.2' at 1,1 center front textcolor rgb '"));
}

TEST_CASE("heat map: the real gnuplot draws cells, texts and scale in colours by class") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK_THROWS_AS(svg_of(sample_heat_map("one")), std::runtime_error);
    return;
  }
  const std::string svg = draw(sample_heat_map("one"), {}, SvgFor::page).svg;
  for (const char* text : {"warmup", "rate", "0", "400", "1e-3", "1e-2", "10", "100", "accuracy, %",
                           "97.2", "div", "–", "55.5"}) {
    CAPTURE(text);
    CHECK(contains(svg, std::string(">") + text + "</text>"));
  }
  CHECK(contains(svg, "role=\"img\" aria-labelledby=\"one-title one-desc\""));
  CHECK(contains(svg, "<desc id=\"one-desc\">Alt text of one</desc>"));
  CHECK_FALSE(contains(svg, "http"));
  CHECK_FALSE(contains(svg, "black"));
  for (int step = 1; step <= 9; ++step) {
    CAPTURE(step);
    CHECK(contains(svg, " class='heat" + std::to_string(step) + "'"));  // on the scale
  }
  CHECK(contains(svg, " class='heat9-text'"));
  CHECK(contains(svg, " class='heat5-text'"));
  CHECK_FALSE(contains(svg, " class='heat1-text'"));
}

TEST_CASE("heat map: without any number it is a grid of texts") {
  HeatMap map = sample_heat_map("one");
  for (auto& row : map.cells) row = {{kNaN, "div"}, {kNaN, "stuck"}};
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK_THROWS_AS(svg_of(map), std::runtime_error);
    return;
  }
  const std::string svg = svg_of(map);
  CHECK(contains(svg, ">div</text>"));
  CHECK(contains(svg, ">stuck</text>"));
}

TEST_CASE("heat map: every text in a cell has a contrast of 4.5 at least, in light and in dark") {
  const std::string style = figure_style();
  int checked = 0;
  double last = 2.0;
  for (std::size_t at = 0; (at = style.find(".heat", at)) != std::string::npos; ++at) {
    at = style.find("{fill:#", at);
    const std::size_t text = style.find("{fill:#", at + 1);
    const double paper = luminance_at(style, at + 6);
    CHECK(contrast(paper, luminance_at(style, text + 6)) >= 4.5);
    // Light: ever darker. Dark: ever lighter.
    if (checked % 9 != 0) CHECK((checked < 9 ? paper < last : paper > last));
    last = paper;
    ++checked;
    at = text;
  }
  CHECK(checked == 18);
}

TEST_CASE("heat map: long texts widen the drawing instead of meeting") {
  HeatMap map = sample_heat_map("one");
  CHECK(size_of(map).width == 460);
  map.cells[0][0].text = std::string(60, 'w');
  const int wide = size_of(map).width;
  CHECK(wide > 2 * 60 * 8);  // two columns
  map.cells[0][0].text = "";
  for (int i = 0; i < 60; ++i) map.cells[0][0].text += "ä";  // two bytes, one letter
  map.cells[0][0].value = kNaN;
  CHECK(size_of(map).width == wide);
}

TEST_CASE("heat map: title and alternative text stay text, in a file of its own") {
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  HeatMap map = sample_heat_map("one");
  map.title = map.alt = kHostile;
  const std::string svg = svg_of(map, {stand_in.program()});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(contains(svg, "@media (prefers-color-scheme:dark)"));
  CHECK_FALSE(contains(svg, "<b "));
  CHECK(contains(svg, ">" + escape_markup(kHostile) + "</title>"));
}

TEST_CASE("heat map: parts that do not fit together are refused, and the map is named") {
  const auto refused = [](auto change, const char* message) {
    HeatMap map = sample_heat_map("one");
    change(map);
    CAPTURE(message);
    CHECK_THROWS_WITH_AS(check_figure(map), doctest::Contains(message), std::invalid_argument);
  };
  CHECK_NOTHROW(check_figure(sample_heat_map("one")));
  refused([](HeatMap& map) { map.name = "a b"; }, "heat map a b: name");
  refused([](HeatMap& map) { map.alt.clear(); }, "heat map one: alt");
  refused([](HeatMap& map) { map.high = map.low; }, "heat map one: low and high");
  refused([](HeatMap& map) { map.high = HUGE_VAL; }, "heat map one: low and high");
  refused([](HeatMap& map) { map.low = kNaN; }, "heat map one: low and high");
  refused([](HeatMap& map) { map.columns.clear(); }, "heat map one: rows and columns");
  refused([](HeatMap& map) { map.cells.pop_back(); }, "must have 2 rows, got 1");
  refused([](HeatMap& map) { map.cells[1].pop_back(); },
          "heat map one: row 1e-2: must have 2 cells, got 1");
  refused([](HeatMap& map) { map.cells[0][0].text.clear(); }, "none for 97.2");
}
