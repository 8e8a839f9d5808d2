// Ranges and ticks. Tested by tests/experiments/lab/report/figure_test.cpp.
#include "experiments/lab/report/figure_axes.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace normlab {

namespace {

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0.0); }

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

// Round numbers at even distances, about four of them.
std::vector<double> even_ticks(const Range& range) {
  const double raw = (range.high - range.low) / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw / power > 5.0 ? 10.0 : raw / power > 2.0 ? 5.0 : 2.0);
  std::vector<double> ticks;
  for (double i = std::ceil(range.low / step); i * step <= range.high; ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

// 1, 2 and 5 times powers of ten; over many decades only the powers, at most about eight of them.
// Where fewer than two lie in the range, it is so short that even ticks do.
std::vector<double> log_ticks(const Range& range, double room) {
  const double decades = std::log10(range.high / range.low);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / (8.0 * room))));
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(range.low)));
       power <= std::log10(range.high); ++power) {
    for (int mantissa : {1, 2, 5}) {
      if (decades > 3.0 * room && (mantissa != 1 || power % step != 0)) continue;
      const double tick = mantissa * std::pow(10.0, power);
      if (tick >= range.low && tick <= range.high) ticks.push_back(tick);
    }
  }
  return ticks.size() < 2 ? even_ticks(range) : ticks;
}

// Depths and layers are few and whole: each is a tick of its own, unless they would collide.
std::vector<double> own_ticks(const std::set<double>& values, const Range& range, bool log,
                              double room) {
  const auto place = [&](double x) {
    return log ? std::log(x / range.low) / std::log(range.high / range.low)
               : (x - range.low) / (range.high - range.low);
  };
  const double letter = 0.022 / room, space = 0.02 / room;  // of the axis
  const auto half = [letter](double x) {
    return 0.5 * letter * static_cast<double>(fmt::format("{:g}", x).size());
  };
  for (auto each = values.begin(); std::next(each) != values.end(); ++each) {
    const double next = *std::next(each);
    if (place(next) - place(*each) < half(*each) + half(next) + space) return {};
  }
  return {values.begin(), values.end()};
}

std::string axis_commands(char axis, const Range& range, bool log, std::vector<double> ticks,
                          double room) {
  std::string text;
  if (log) text += fmt::format("set logscale {}\n", axis);
  text += fmt::format("set {}range [{}:{}]\n", axis, range.low, range.high);
  if (ticks.empty() && log) ticks = log_ticks(range, room);
  if (ticks.size() < 2 && !log) return text;  // gnuplot's own choice
  std::vector<std::string> labelled;
  labelled.reserve(ticks.size());
  for (double tick : ticks) labelled.push_back(fmt::format("'{:g}' {}", tick, tick));
  return text + fmt::format("set {}tics ({})\n", axis, fmt::join(labelled, ", "));
}

}  // namespace

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

Axes axes_around(std::span<const Figure> figures) {
  Axes axes;
  for (const Figure& figure : figures) {
    for (const Series& series : figure.series) {
      for (const Point& p : points_of(figure, series)) {
        if (std::isnan(p.x)) continue;
        axes.x.include(p.x);
        axes.x_values.insert(p.x);
        for (double y : {p.y, p.low, p.high}) axes.y.include(y);
      }
    }
  }
  return axes;
}

std::string axes_commands(const Figure& figure, const Axes& axes, double room) {
  const Range x = widened(axes.x, figure.log_x, false), y = widened(axes.y, figure.log_y, true);
  return axis_commands('x', x, figure.log_x, own_ticks(axes.x_values, x, figure.log_x, room),
                       room) +
         axis_commands('y', y, figure.log_y, {}, room);
}

}  // namespace normlab
