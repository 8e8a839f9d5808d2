#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "experiments/lab/report/gnuplot.hpp"

// What an experiment found, as a page that needs nothing but a browser. Every text here is plain:
// nothing in it is read as markup, as a gnuplot command or by a shell.
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
  std::vector<double> x, y, low{}, high{};
};

struct Figure {
  std::string name;  // of its file and its ids: a-z, 0-9 and _
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
  std::string alt;  // what one sees, for those who do not
  std::string caption;
};

// A grid of numbers, coloured from `low` to `high` in nine steps of one hue. Drawn without gnuplot.
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
// in several plots or several times in one (seeds). On a narrow page plots stand below each other.
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

struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

struct Report {
  std::string title, command;
  std::vector<std::pair<std::string, std::string>> configuration;
  std::vector<std::string> look_for;  // sentences
  std::vector<Figure> figures;
  std::vector<Table> tables;
  // On the page heat maps come before the figures, panels behind them.
  std::vector<HeatMap> heat_maps{};
  std::vector<Panel> panels{};
};

// One page: no script, nothing fetched, readable on a phone, in light and dark. The same report
// gives the same bytes (with the same gnuplot). Without gnuplot the page says how to get it and
// keeps everything else. Throws std::invalid_argument if parts of the report do not fit together.
std::string html_of(const Report& report, const Plotter& plotter = {});

// A file of its own, with both colour schemes inside. Throws std::runtime_error if gnuplot fails.
std::string svg_of(const Figure& figure, const Plotter& plotter = {});
std::string svg_of(const Panel& panel, const Plotter& plotter = {});
std::string svg_of(const HeatMap& map);

// Each figure, heat map and panel that has anything to draw as <folder>/<name>.svg, atomically;
// makes the folder. check_figures_folder, for before a long computation, throws std::runtime_error
// if gnuplot or the folder would fail.
void check_figures_folder(const std::string& folder, const Plotter& plotter = {});
void write_figures(const Report& report, const std::string& folder, const Plotter& plotter = {});

// The command line to print in a report, quoted for a shell. Of the values of `path_options` only
// the file's name is kept: in which folder someone keeps it is nobody else's business.
std::string command_text(const std::string& program, int argc, const char* const* argv,
                         const std::vector<std::string>& path_options);

}  // namespace normlab
