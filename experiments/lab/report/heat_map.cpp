// A heat map as SVG. Unlike a plot it is only boxes and text, which needs no gnuplot: one cell is
// 34 px high and as wide as the longest text wants, and the drawing grows with them, so that no
// text meets another. Tested by tests/experiments/lab/report/heat_map_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiments/lab/report/figure_colors.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

constexpr int kSteps = 9;

// In px, within a margin. The least width is that of other figures; a letter is a generous 14 px
// one.
constexpr int kMargin = 6, kWidth = 460 - 2 * kMargin, kCellHeight = 34, kLine = 24, kPad = 8;
constexpr double kLetter = 8.2;
constexpr int kBrickWidth = 18, kBrickHeight = 14;

Rgb color_at(const HeatRamp& ramp, int step) {
  const double part = static_cast<double>(step) / (kSteps - 1);
  const auto mix = [part](double low, double high) {
    return std::round(low + part * (high - low));
  };
  return {mix(ramp.low.red, ramp.high.red), mix(ramp.low.green, ramp.high.green),
          mix(ramp.low.blue, ramp.high.blue)};
}

std::string hex(const Rgb& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(color.red),
                     static_cast<int>(color.green), static_cast<int>(color.blue));
}

// Relative luminance, 0 to 1, of the Web Content Accessibility Guidelines 2.2.
double luminance(const Rgb& color) {
  const auto linear = [](double channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

// The one with more contrast, which is 4.5 at least on any colour: the guidelines' limit for text.
// Contrast is (brighter + 0.05) / (darker + 0.05).
const char* text_color_on(const Rgb& color) {
  const double paper = luminance(color) + 0.05;
  return 1.05 / paper > paper / 0.05 ? "#ffffff" : "#000000";
}

int step_of(const HeatMap& map, double value) {
  // Halves, since the difference of two finite numbers need not be finite.
  const double part =
      (std::clamp(value, map.low, map.high) / 2 - map.low / 2) / (map.high / 2 - map.low / 2);
  return std::min(static_cast<int>(part * kSteps), kSteps - 1);
}

// Of UTF-8 text, whose letters have one byte each that is no continuation.
int width_of(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return static_cast<int>(std::ceil(kLetter * static_cast<double>(letters)));
}

std::string text_of(const HeatMap::Cell& cell) { return cell.text.empty() ? "–" : cell.text; }

struct Layout {
  int left, top;  // of the cells
  int cell_width, right, bottom;
  FigureSize size;
};

std::string low_text(const HeatMap& map) { return fmt::format("{:g}", map.low); }
std::string high_text(const HeatMap& map) { return fmt::format("{:g}", map.high); }

Layout layout_of(const HeatMap& map) {
  int widest_row = 0, widest_cell = 0;
  for (const std::string& row : map.rows) widest_row = std::max(widest_row, width_of(row));
  for (const std::string& column : map.columns) {
    widest_cell = std::max(widest_cell, width_of(column));
  }
  for (const auto& row : map.cells) {
    for (const HeatMap::Cell& cell : row) {
      widest_cell = std::max(widest_cell, width_of(text_of(cell)));
    }
  }
  const int columns = static_cast<int>(map.columns.size());
  Layout at{};
  at.left = widest_row + kPad;
  at.top = kLine;
  at.cell_width = std::max(widest_cell + 2 * kPad, (kWidth - at.left) / columns);
  at.right = at.left + columns * at.cell_width;
  at.bottom = at.top + static_cast<int>(map.rows.size()) * kCellHeight;
  const int scale = width_of(low_text(map)) + width_of(high_text(map)) + width_of(map.scale) +
                    kSteps * kBrickWidth + 4 * kPad;
  at.size.width =
      std::max({kWidth, at.right, at.left + width_of(map.x_label), width_of(map.y_label), scale});
  at.size.height = at.bottom + 3 * kLine + 4;
  return at;
}

enum class Anchor { start, middle, end };

std::string label(double x, int y, Anchor anchor, const std::string& text) {
  constexpr const char* kAnchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y,
                     kAnchors[static_cast<int>(anchor)], escape_markup(text));
}

// The attribute stands for viewers without style sheets, which know no dark mode.
std::string box(int x, int y, int width, int height, int step) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{}\" "
      "class=\"heat{}\"/>\n",
      x, y, width, height, hex(color_at(kLightHeat, step)), step + 1);
}

// Boxes leave a gap of 2 px.
std::string cell_at(const HeatMap& map, const HeatMap::Cell& cell, int x, int y, int width) {
  const double middle = x + 0.5 * width;
  const int baseline = y + kCellHeight / 2 + 5;
  if (!std::isfinite(cell.value)) {
    return fmt::format(
               "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"none\" "
               "stroke=\"currentColor\" stroke-opacity=\"0.35\" stroke-dasharray=\"3,3\"/>\n",
               x + 1.5, y + 1.5, width - 3, kCellHeight - 3) +
           label(middle, baseline, Anchor::middle, text_of(cell));
  }
  const int step = step_of(map, cell.value);
  return box(x + 1, y + 1, width - 2, kCellHeight - 2, step) +
         fmt::format(
             "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\" class=\"heat{}-text\">{}"
             "</text>\n",
             middle, baseline, text_color_on(color_at(kLightHeat, step)), step + 1,
             escape_markup(cell.text));
}

std::string grid_of(const HeatMap& map, const Layout& at) {
  std::string text;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const int y = at.top + static_cast<int>(row) * kCellHeight;
    text += label(at.left - kPad, y + kCellHeight / 2 + 5, Anchor::end, map.rows[row]);
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const int x = at.left + static_cast<int>(column) * at.cell_width;
      text += cell_at(map, map.cells[row][column], x, y, at.cell_width);
    }
  }
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    const double x = at.left + (static_cast<double>(column) + 0.5) * at.cell_width;
    text += label(x, at.bottom + 18, Anchor::middle, map.columns[column]);
  }
  return text;
}

// "low [steps] high  what", at the left edge.
std::string scale_of(const HeatMap& map, const Layout& at) {
  const int baseline = at.bottom + 3 * kLine, top = baseline - kBrickHeight + 2;
  int x = width_of(low_text(map));
  std::string text = label(x, baseline, Anchor::end, low_text(map));
  x += kPad;
  for (int step = 0; step < kSteps; ++step, x += kBrickWidth) {
    text += box(x, top, kBrickWidth - 1, kBrickHeight, step);
  }
  x += kPad;
  text += label(x, baseline, Anchor::start, high_text(map));
  return text + label(x + width_of(high_text(map)) + kPad, baseline, Anchor::start, map.scale);
}

std::string style_rules(const HeatRamp& ramp) {
  std::string rules;
  for (int step = 0; step < kSteps; ++step) {
    const Rgb color = color_at(ramp, step);
    rules += fmt::format(".heat{0}{{fill:{1}}}.heat{0}-text{{fill:{2}}}\n", step + 1, hex(color),
                         text_color_on(color));
  }
  return rules;
}

}  // namespace

std::string heat_map_style() {
  return style_rules(kLightHeat) + "@media (prefers-color-scheme:dark){\n" +
         style_rules(kDarkHeat) + "}\n";
}

FigureSize size_of(const HeatMap& map) {
  const FigureSize inner = layout_of(map).size;
  return {inner.width + 2 * kMargin, inner.height + 2 * kMargin};
}

std::string draw(const HeatMap& map, SvgFor use) {
  check_figure(map);
  const Layout at = layout_of(map);
  const std::string drawing =
      fmt::format(
          "<g transform=\"translate({},{})\" font-family=\"sans-serif\" font-size=\"14\" "
          "fill=\"currentColor\">\n",
          kMargin, kMargin) +
      label(0, 16, Anchor::start, map.y_label) + grid_of(map, at) +
      label(at.left, at.bottom + kLine + 18, Anchor::start, map.x_label) + scale_of(map, at) +
      "</g>\n";
  return svg_element({map.name, map.title, map.alt, size_of(map), heat_map_style(), drawing}, use);
}

std::string svg_of(const HeatMap& map) { return draw(map, SvgFor::file) + "\n"; }

}  // namespace normlab
