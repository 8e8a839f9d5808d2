// From a figure to gnuplot's commands. Tested by tests/experiments/figure_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/figure_colors.hpp"
#include "experiments/figure_svg.hpp"

namespace normlab {

namespace {

// In px. A narrow drawing keeps its 14 px letters readable when a phone shrinks it.
constexpr int kWidth = 460, kPlotHeight = 326, kAxisHeight = 58, kLineOfKey = 21;

int key_height(const Figure& figure) {
  return kLineOfKey * static_cast<int>(figure.series.size()) + 4;
}

struct Point {
  double x, y, low, high;
};

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0.0); }

// A point that cannot be drawn is an empty place: gnuplot interrupts the line there.
std::vector<Point> points_of(const Figure& figure, const Series& series) {
  const Point gap{std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0, 0.0};
  const bool band = series.kind == Series::Kind::band;
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double y = series.y[i];
    const Point point{series.x[i], y, band ? series.low[i] : y, band ? series.high[i] : y};
    const bool whole = drawable(point.x, figure.log_x) && drawable(y, figure.log_y) &&
                       drawable(point.low, figure.log_y) && drawable(point.high, figure.log_y);
    points.push_back(whole ? point : gap);
  }
  return points;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// With a margin, so that no mark lies on the frame.
Range widened(Range range, bool log, bool from_zero) {
  if (log) {
    const double factor = range.high > range.low ? std::pow(range.high / range.low, 0.06) : 1.5;
    return {range.low / factor, range.high * factor};
  }
  const double margin = range.high > range.low ? 0.05 * (range.high - range.low) : 0.5;
  const bool zero = from_zero && range.low >= 0.0;
  return {zero ? 0.0 : range.low - margin, range.high + margin};
}

// 1, 2 and 5 times powers of ten; over many decades only the powers, at most about eight of them.
std::vector<double> log_ticks(const Range& range) {
  const double decades = std::log10(range.high / range.low);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / 8.0)));
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(range.low)));
       power <= std::log10(range.high); ++power) {
    for (int mantissa : {1, 2, 5}) {
      if (decades > 3.0 && (mantissa != 1 || power % step != 0)) continue;
      const double tick = mantissa * std::pow(10.0, power);
      if (tick >= range.low && tick <= range.high) ticks.push_back(tick);
    }
  }
  return ticks;
}

// Depths and layers are few and whole: each is a tick of its own, unless they would collide.
std::vector<double> own_ticks(const std::set<double>& values, const Range& range, bool log) {
  const auto place = [&](double x) {
    return log ? std::log(x / range.low) / std::log(range.high / range.low)
               : (x - range.low) / (range.high - range.low);
  };
  constexpr double kLetter = 0.022, kSpace = 0.02;  // of the axis
  const auto half = [](double x) {
    return 0.5 * kLetter * static_cast<double>(fmt::format("{:g}", x).size());
  };
  for (auto each = values.begin(); std::next(each) != values.end(); ++each) {
    const double next = *std::next(each);
    if (place(next) - place(*each) < half(*each) + half(next) + kSpace) return {};
  }
  return {values.begin(), values.end()};
}

std::string axis_commands(char axis, const Range& range, bool log, std::vector<double> ticks) {
  std::string text;
  if (log) text += fmt::format("set logscale {}\n", axis);
  text += fmt::format("set {}range [{}:{}]\n", axis, range.low, range.high);
  if (ticks.empty() && log) ticks = log_ticks(range);
  if (ticks.size() < 2 && !log) return text;  // gnuplot's own choice
  std::vector<std::string> labelled;
  for (double tick : ticks) labelled.push_back(fmt::format("'{:g}' {}", tick, tick));
  return text + fmt::format("set {}tics ({})\n", axis, fmt::join(labelled, ", "));
}

std::string data_block(std::size_t index, const std::vector<Point>& points) {
  std::string text = fmt::format("$series{} << END\n", index);
  for (const Point& p : points) {
    text += std::isnan(p.x) ? "\n" : fmt::format("{} {} {} {}\n", p.x, p.y, p.low, p.high);
  }
  return text + "END\n";
}

// Bands below every line. `styled` counts the series that are measured, `theories` the others.
void add_plots(const Series& series, std::size_t index, std::size_t points, int& styled,
               int& theories, std::vector<std::string>& areas, std::vector<std::string>& lines) {
  const std::string data = fmt::format("$series{}", index);
  const std::string title = "title " + gnuplot_quoted(series.name);
  constexpr const char* kTheoryDashes[] = {"(2,4)", "(9,4,2,4)", "(14,5)"};
  constexpr const char* kDashes[] = {"solid", "(9,4)", "(4,3)", "(12,3,3,3)", "(6,6)"};
  // Filled and open circle, square, triangle, diamond. When the colours begin again, marks differ.
  constexpr int kMarks[] = {7, 5, 9, 13, 6, 4, 8, 12};
  const int mark = kMarks[(styled % kSeriesColors + styled / kSeriesColors * 4) % 8];
  if (series.kind == Series::Kind::theory) {
    lines.push_back(
        fmt::format("{} using 1:2 with lines linecolor rgb 'black' linewidth 1.5 dashtype {} {}",
                    data, kTheoryDashes[theories++ % 3], title));
    return;
  }
  const std::string color = fmt::format(
      "rgb '{}'", kSeriesPalette[static_cast<std::size_t>(styled % kSeriesColors)].light);
  const std::string marks = fmt::format("linecolor {} pointtype {} pointsize 0.9", color, mark);
  if (series.kind == Series::Kind::points) {
    lines.push_back(fmt::format("{} using 1:2 with points {} {}", data, marks, title));
  } else {
    areas.push_back(points > 1
                        ? fmt::format("{} using 1:3:4 with filledcurves fillcolor {} fillstyle "
                                      "transparent solid 0.18 noborder notitle",
                                      data, color)
                        : fmt::format("{} using 1:2:3:4 with yerrorbars pointtype 0 linecolor {} "
                                      "notitle",
                                      data, color));
    lines.push_back(fmt::format("{} using 1:2 with linespoints {} linewidth 2 dashtype {} {}", data,
                                marks, kDashes[styled % 5], title));
  }
  ++styled;
}

}  // namespace

FigureSize size_of(const Figure& figure) { return {kWidth, kPlotHeight + key_height(figure)}; }

std::string gnuplot_script(const Figure& figure) {
  std::string blocks;
  std::vector<std::string> areas, lines;
  Range x_range, y_range;
  std::set<double> x_values;
  int styled = 0, theories = 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const std::vector<Point> points = points_of(figure, figure.series[i]);
    std::size_t drawn = 0;
    for (const Point& p : points) {
      if (std::isnan(p.x)) continue;
      ++drawn;
      x_range.include(p.x);
      x_values.insert(p.x);
      for (double y : {p.y, p.low, p.high}) y_range.include(y);
    }
    if (drawn == 0) continue;
    blocks += data_block(i, points);
    add_plots(figure.series[i], i, drawn, styled, theories, areas, lines);
  }
  if (x_range.empty()) return "";
  x_range = widened(x_range, figure.log_x, false);
  y_range = widened(y_range, figure.log_y, true);
  areas.insert(areas.end(), lines.begin(), lines.end());
  const FigureSize size = size_of(figure);
  const double key = key_height(figure);  // below the axis, at the left edge
  return fmt::format(
             "set encoding utf8\n"
             "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,14'\n"
             "set format '%g'\n"
             "set grid\nset border 3\nset tics nomirror scale 0.5\n"
             "set tmargin 0.5\nset rmargin 1.5\nset bmargin at screen {}\n"
             "set key at screen 0.01, screen {} left top vertical maxcols 1 Left reverse samplen "
             "3\n"
             "set xlabel {} offset 0,0.3\nset ylabel {} offset 0.6,0\n",
             size.width, size.height, (kAxisHeight + key) / size.height, key / size.height,
             gnuplot_quoted(figure.x_label), gnuplot_quoted(figure.y_label)) +
         axis_commands('x', x_range, figure.log_x, own_ticks(x_values, x_range, figure.log_x)) +
         axis_commands('y', y_range, figure.log_y, {}) + blocks +
         fmt::format("plot {}\n", fmt::join(areas, ", "));
}

}  // namespace normlab
