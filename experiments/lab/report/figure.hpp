#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/lab/report/gnuplot.hpp"
#include "experiments/lab/stats/statistics.hpp"

// What can be drawn. Every text here is plain: nothing in it is read as markup, as a gnuplot
// command or by a shell.
namespace normlab {

struct Series {
  enum class Kind {
    theory,  // a thin line in the colour of the text
    points,  // marks only
    line,    // a coloured line without marks, for many points
    band,    // marks on a line, within the area from `low` to `high`
  };
  std::string name;
  Kind kind;
  // As many of each; `low` and `high` only for a band. A point that is not finite, or not positive
  // on a logarithmic axis, is a gap.
  std::vector<double> x{}, y{}, low{}, high{};

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
  // A point of a band: the median, from the smallest to the largest.
  void add(double at, const Spread& spread) {
    x.push_back(at);
    y.push_back(spread.median);
    low.push_back(spread.smallest);
    high.push_back(spread.largest);
  }
};

struct Figure {
  std::string name;  // of its file and its ids: a-z, 0-9 and _
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
  std::string alt;  // what one sees, for those who do not
  std::string caption;
};

// A grid of numbers, coloured from `low` to `high` in nine steps of one hue.
struct HeatMap {
  struct Cell {
    double value = std::numeric_limits<double>::quiet_NaN();  // without a colour if not finite
    std::string text{};  // in the cell; a dash if there is no number and nothing to say about it
  };
  std::string name;  // of its file and its ids: a-z, 0-9 and _
  std::string title, x_label, y_label;
  std::vector<std::string> columns, rows;  // labels, from the left and from the top
  std::vector<std::vector<Cell>> cells;    // [row][column]
  double low = 0.0, high = 1.0;
  std::string scale;  // what the colours stand for, with its unit
  std::string alt;    // what one sees, for those who do not
  std::string caption;
};

// Small plots with the same axes and one key. Series of one name look the same wherever they are,
// in several plots or several times in one (seeds).
struct Panel {
  struct Plot {
    std::string title;
    std::vector<Series> series;  // empty axes if there is nothing to draw
  };
  std::string name;  // of its file and its ids: a-z, 0-9 and _
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Plot> plots;
  std::string alt;  // what one sees, for those who do not
  std::string caption;
};

}  // namespace normlab
