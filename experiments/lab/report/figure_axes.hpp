#pragma once

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/lab/report/report.hpp"

// Where the points of figures lie, and the axes around them.
namespace normlab {

// Without a band, low and high are y.
struct Point {
  double x, y, low, high;
};

// As many as the series has. One that cannot be drawn has a NaN for x: gnuplot interrupts the line
// at an empty line of data.
std::vector<Point> points_of(const Figure& figure, const Series& series);

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Axes {
  Range x, y;
  std::set<double> x_values;

  bool empty() const { return x.empty(); }
};

// Around every point of every figure that can be drawn; all have the same kinds of axes.
Axes axes_around(std::span<const Figure> figures);

// The commands for ranges and ticks. `room` is the width of the drawing as a part of a whole
// figure's: with less of it there are fewer ticks.
std::string axes_commands(const Figure& figure, const Axes& axes, double room);

}  // namespace normlab
