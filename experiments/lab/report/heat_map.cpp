// A heat map as gnuplot's commands. A cell is 34 px high and as wide as the longest text wants, and
// the drawing grows with them, so that no text meets another. Tested by
// tests/experiments/lab/report/heat_map_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/report/figure_colors.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

// In px; a letter is a generous 14 px one.
constexpr int kLeastWidth = 460, kCellHeight = 34, kBottom = 140, kPad = 10;
constexpr double kLetter = 8.2;

// Of UTF-8 text, whose letters have one byte each that is no continuation.
int width_of(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return static_cast<int>(std::ceil(kLetter * static_cast<double>(letters)));
}

int widest(const std::vector<std::string>& texts) {
  int width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  return width;
}

std::string text_of(const HeatMap::Cell& cell) { return cell.text.empty() ? "–" : cell.text; }

// Of the labels on the left, and of the axis' own, which gnuplot leaves out if it finds too little
// room for both: it reckons with wider letters.
int left_of(const HeatMap& map) { return widest(map.rows) * 6 / 5 + 32 + 2 * kPad; }

int step_of(const HeatMap& map, double value) {
  // Halves, since the difference of two finite numbers need not be finite.
  const double part =
      (std::clamp(value, map.low, map.high) / 2 - map.low / 2) / (map.high / 2 - map.low / 2);
  return std::min(static_cast<int>(part * kHeatSteps), kHeatSteps - 1);
}

std::string hex(const Rgb& color) {
  return fmt::format("'#{:02x}{:02x}{:02x}'", color.red, color.green, color.blue);
}

// Labels of ticks are formats of numbers, which is what % is doubled for.
std::string tick_list(const std::vector<std::string>& labels) {
  std::vector<std::string> ticks;
  for (const std::string& label : labels) {
    std::string format;
    for (char c : label) format += c == '%' ? "%%" : std::string(1, c);
    ticks.push_back(fmt::format("{} {}", gnuplot_quoted(format), ticks.size()));
  }
  return fmt::format("({}) scale 0", fmt::join(ticks, ", "));
}

}  // namespace

FigureSize size_of(const HeatMap& map) {
  int cell = widest(map.columns);
  for (const auto& row : map.cells) {
    for (const HeatMap::Cell& one : row) cell = std::max(cell, width_of(text_of(one)));
  }
  const int columns = static_cast<int>(map.columns.size()) * (cell + 2 * kPad);
  const int labels = std::max(width_of(map.x_label), width_of(map.scale));
  return {
      std::max(kLeastWidth, left_of(map) + std::max(columns, labels) + kPad),
      kBottom + kPad + static_cast<int>(std::max<std::size_t>(map.rows.size(), 3)) * kCellHeight};
}

std::string gnuplot_script(const HeatMap& map) {
  const FigureSize size = size_of(map);
  const double width = size.width, height = size.height, left = left_of(map) / width;
  std::string cells, labels;
  for (std::size_t row = 0; row < map.cells.size(); ++row) {
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      const HeatMap::Cell& cell = map.cells[row][column];
      std::string color;
      if (!std::isfinite(cell.value)) {
        cells += fmt::format("{} {} NaN\n", column, row);  // an image has all its cells
      } else {
        const int step = step_of(map, cell.value);
        cells += fmt::format("{} {} {}\n", column, row, step);
        color = " textcolor rgb " + hex(text_color_on(kLightHeat.at(step), step));
      }
      labels += fmt::format("set label {} at {},{} center front{}\n", gnuplot_quoted(text_of(cell)),
                            column, row, color);
    }
  }
  std::vector<std::string> ramp;
  for (int step = 0; step < kHeatSteps; ++step) {
    ramp.push_back(fmt::format("{} {}", step, hex(kLightHeat.at(step))));
  }
  return gnuplot_terminal(size) + "$cells << END\n" + cells + "END\n" + labels +
         fmt::format(
             "set palette maxcolors {0} defined ({1})\nset cbrange [-0.5:{0}-0.5]\n"
             "set colorbox horizontal user origin screen {2},{3} size screen 0.4,{4} noborder\n"
             "set cbtics ('{5:g}' -0.5, '{6:g}' {0}-0.5) scale 0 offset 0,0.5\n"
             "set cblabel {7} offset 0,0.8\n",
             kHeatSteps, fmt::join(ramp, ", "), left, 48 / height, 14 / height, map.low, map.high,
             gnuplot_quoted(map.scale)) +
         fmt::format(
             "unset border\nunset key\nset xrange [-0.5:{}-0.5]\nset yrange [{}-0.5:-0.5]\n"
             "set xtics {}\nset ytics {}\nset xlabel {}\nset ylabel {}\n",
             map.columns.size(), map.rows.size(), tick_list(map.columns), tick_list(map.rows),
             gnuplot_quoted(map.x_label), gnuplot_quoted(map.y_label)) +
         fmt::format(
             "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
             "set tmargin at screen {}\nplot $cells using 1:2:3 with image pixels notitle\n",
             left, 1.0 - kPad / width, kBottom / height, 1.0 - kPad / height);
}

}  // namespace normlab
