// From figures and panels to gnuplot's commands. Tested by
// tests/experiments/lab/report/figure_test.cpp and panel_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/report/figure_colors.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

// In px. A narrow drawing keeps its 14 px letters readable when a phone shrinks it.
constexpr int kWidth = 460, kPlotHeight = 326, kAxisHeight = 58, kLineOfKey = 21;
constexpr int kSmallWidth = 300, kSmallHeight = 260, kLeft = 62, kTitle = 34;

// Ranges and ticks, found by gnuplot from a first plot that is not shown. With a margin, so that no
// mark lies on the frame; what is not negative begins at zero. A logarithmic axis has 1, 2 and 5
// times powers of ten, even ticks where its range is too short for these, and over many decades
// what gnuplot chooses: powers alone.
constexpr const char* kAxes =
    R"gp(room(a, b, l) = l ? (b > a ? (b / a) ** 0.06 : 1.5) : b > a ? 0.05 * (b - a) : 0.5
low(a, b, l) = l ? a / room(a, b, l) : a - room(a, b, l)
high(a, b, l) = l ? b * room(a, b, l) : b + room(a, b, l)
x1 = low(GPVAL_DATA_X_MIN, GPVAL_DATA_X_MAX, log_x)
x2 = high(GPVAL_DATA_X_MIN, GPVAL_DATA_X_MAX, log_x)
y1 = !log_y && GPVAL_DATA_Y_MIN >= 0 ? 0 : low(GPVAL_DATA_Y_MIN, GPVAL_DATA_Y_MAX, log_y)
y2 = high(GPVAL_DATA_Y_MIN, GPVAL_DATA_Y_MAX, log_y)
set xrange [x1:x2]
set yrange [y1:y2]
step(r) = (p = 10.0 ** floor(log10(r)), p * (r / p > 5 ? 10 : r / p > 2 ? 5 : 2))
do for [axis in "x y"] {
  a = axis eq "x" ? x1 : y1; b = axis eq "x" ? x2 : y2; ticks = ""
  if (axis eq "x" ? log_x : log_y) {
    if (b / a < 7) {
      s = step((b - a) / 6.0)
      do for [i = int(ceil(a / s)) : int(floor(b / s))] { ticks = ticks.sprintf(", %.9g", i * s) }
    } else { if (b / a < 2000) {
      do for [e = int(floor(log10(a))) : int(floor(log10(b)))] {
        ticks = ticks.sprintf(", %.9g, %.9g, %.9g", 10.0 ** e, 2 * 10.0 ** e, 5 * 10.0 ** e)
      }
    } }
  }
  if (strlen(ticks) > 0) { eval "set ".axis."tics (".ticks[3:*].")"
}
}
)gp";

// Without a band, low and high are y.
struct Point {
  double x, y, low, high;
};

// What figures and panels have in common.
struct Axes {
  const std::string &x_label, &y_label;
  bool log_x, log_y;
};

// Those that can be drawn; where there is a gap, a NaN for x.
std::vector<Point> points_of(const Axes& axes, const Series& series) {
  const auto drawable = [](double value, bool log) {
    return std::isfinite(value) && (!log || value > 0.0);
  };
  const bool band = series.kind == Series::Kind::band;
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double y = series.y[i];
    Point point{series.x[i], y, band ? series.low[i] : y, band ? series.high[i] : y};
    if (!drawable(point.x, axes.log_x) || !drawable(y, axes.log_y) ||
        !drawable(point.low, axes.log_y) || !drawable(point.high, axes.log_y)) {
      point.x = std::numeric_limits<double>::quiet_NaN();
    }
    points.push_back(point);
  }
  return points;
}

// Styles count from 0, those of theories and those of what is measured apart. `points` says where
// gnuplot finds x and y.
std::string line_plot(const std::string& points, Series::Kind kind, int style,
                      const std::string& title) {
  constexpr const char* kTheoryDashes[] = {"(2,4)", "(9,4,2,4)", "(14,5)"};
  constexpr const char* kDashes[] = {"solid", "(9,4)", "(4,3)", "(12,3,3,3)", "(6,6)"};
  // Filled and open circle, square, triangle, diamond. When the colours begin again, marks differ.
  constexpr int kMarks[] = {7, 5, 9, 13, 6, 4, 8, 12};
  if (kind == Series::Kind::theory) {
    return fmt::format("{} with lines linecolor rgb 'black' linewidth 1.5 dashtype {} {}", points,
                       kTheoryDashes[style % 3], title);
  }
  const std::string color = fmt::format(
      "rgb '{}'", kSeriesPalette[static_cast<std::size_t>(style % kSeriesColors)].light);
  const char* dashes = kDashes[style % 5];
  if (kind == Series::Kind::line) {
    return fmt::format("{} with lines linecolor {} linewidth 2 dashtype {} {}", points, color,
                       dashes, title);
  }
  const int mark = kMarks[(style % kSeriesColors + style / kSeriesColors * 4) % 8];
  const std::string marks = fmt::format("linecolor {} pointtype {} pointsize 0.9", color, mark);
  if (kind == Series::Kind::points) {
    return fmt::format("{} with points {} {}", points, marks, title);
  }
  return fmt::format("{} with linespoints {} linewidth 2 dashtype {} {}", points, marks, dashes,
                     title);
}

std::string area_plot(const std::string& data, std::size_t points, int style) {
  const char* color = kSeriesPalette[static_cast<std::size_t>(style % kSeriesColors)].light;
  return points > 1 ? fmt::format(
                          "{} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle "
                          "transparent solid 0.18 noborder notitle",
                          data, color)
                    : fmt::format(
                          "{} using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '{}' notitle",
                          data, color);
}

// The data of a drawing and the plots of one pair of axes. Bands lie below every line, and theories
// above what is measured, which would hide their thin lines.
class Plots {
 public:
  Plots(const Axes& axes, std::string& blocks, std::set<double>& x_values)
      : axes_(axes), blocks_(blocks), x_values_(x_values) {}

  // Whether a point of the series can be drawn; otherwise nothing is added.
  bool add(const Series& series, int style, const std::string& title) {
    std::string block;
    std::size_t drawn = 0;
    for (const Point& p : points_of(axes_, series)) {
      if (std::isnan(p.x)) {
        block += "\n";  // interrupts a line
        continue;
      }
      ++drawn;
      x_values_.insert(p.x);
      block += fmt::format("{} {} {} {}\n", p.x, p.y, p.low, p.high);
    }
    if (drawn == 0) return false;
    const std::string data =
        fmt::format("$series{}", std::count(blocks_.begin(), blocks_.end(), '$'));
    blocks_ += data + " << END\n" + block + "END\n";
    if (series.kind == Series::Kind::band) areas_.push_back(area_plot(data, drawn, style));
    auto& lines = series.kind == Series::Kind::theory ? theories_ : lines_;
    lines.push_back(line_plot(data + " using 1:2", series.kind, style, title));
    return true;
  }

  std::vector<std::string> all() const {
    std::vector<std::string> plots = areas_;
    plots.insert(plots.end(), lines_.begin(), lines_.end());
    plots.insert(plots.end(), theories_.begin(), theories_.end());
    return plots;
  }

 private:
  const Axes& axes_;
  std::string& blocks_;
  std::set<double>& x_values_;
  std::vector<std::string> areas_, lines_, theories_;
};

// Depths and layers are few and whole: each is a tick of its own, unless labels would collide on an
// axis that is this wide.
std::string own_ticks(const std::set<double>& values, bool log, int width) {
  if (values.size() < 2) return "";
  const auto place = [log](double x) { return log ? std::log(x) : x; };
  const double scale = width / (place(*values.rbegin()) - place(*values.begin()));
  for (auto x = values.begin(); std::next(x) != values.end(); ++x) {
    const double letters = static_cast<double>(fmt::format("{:g}{:g}", *x, *std::next(x)).size());
    if (scale * (place(*std::next(x)) - place(*x)) < 4.5 * letters + 6.0) return "";
  }
  return fmt::format("set xtics ({})\n", fmt::join(values, ", "));
}

std::string named(const std::string& label, bool log) {
  const bool says_so = label.find("logarithmic") != std::string::npos;
  return gnuplot_quoted(log && !says_so ? label + " (logarithmic)" : label);
}

// Everything up to the drawing. `plots` are all there are; `width` is that of one pair of axes.
std::string preparation(const Axes& axes, const FigureSize& size, const std::string& blocks,
                        const std::vector<std::string>& plots, const std::set<double>& x_values,
                        int width) {
  return blocks +
         fmt::format("log_x = {:d}\nlog_y = {:d}\n{}{}set format '%g'\n", axes.log_x, axes.log_y,
                     axes.log_x ? "set logscale x\n" : "", axes.log_y ? "set logscale y\n" : "") +
         fmt::format("set terminal unknown\nplot {}\n", fmt::join(plots, ", ")) + kAxes +
         own_ticks(x_values, axes.log_x, width) + gnuplot_terminal(size) +
         fmt::format(
             "set grid\nset border 3\nset tics nomirror scale 0.5\nunset mxtics\nunset mytics\n"
             "set xlabel {} offset 0,0.3\nset ylabel {} offset 0.6,0\n",
             named(axes.x_label, axes.log_x), named(axes.y_label, axes.log_y));
}

// `top` in px.
std::string key_commands(int top, int height) {
  return fmt::format(
      "set key at screen 0.01, screen {} left top vertical maxcols 1 Left reverse samplen 3\n",
      static_cast<double>(top) / height);
}

int key_height(std::size_t series) { return kLineOfKey * static_cast<int>(series) + 4; }

struct KeyEntry {
  std::string name;
  Series::Kind kind;
  int style;
};

// Each name once, in the order of their first appearance.
std::vector<KeyEntry> key_of(const Panel& panel) {
  int measured = 0, theories = 0;
  std::vector<KeyEntry> key;
  std::set<std::string> names;
  for (const Panel::Plot& plot : panel.plots) {
    for (const Series& series : plot.series) {
      if (!names.insert(series.name).second) continue;
      int& style = series.kind == Series::Kind::theory ? theories : measured;
      key.push_back({series.name, series.kind, style++});
    }
  }
  return key;
}

int columns_of(const Panel& panel) {
  return panel.plots.size() == 4 ? 2
                                 : static_cast<int>(std::min<std::size_t>(panel.plots.size(), 3));
}
int rows_of(const Panel& panel) {
  const int columns = columns_of(panel);
  return (static_cast<int>(panel.plots.size()) + columns - 1) / columns;
}

}  // namespace

std::string gnuplot_terminal(const FigureSize& size) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,14'\n",
      size.width, size.height);
}

FigureSize size_of(const Figure& figure) {
  return {kWidth, kPlotHeight + key_height(figure.series.size())};
}

std::string gnuplot_script(const Figure& figure) {
  const Axes axes{figure.x_label, figure.y_label, figure.log_x, figure.log_y};
  std::string blocks;
  std::set<double> x_values;
  Plots plots(axes, blocks, x_values);
  int measured = 0, theories = 0;
  for (const Series& series : figure.series) {
    int& style = series.kind == Series::Kind::theory ? theories : measured;
    if (plots.add(series, style, "title " + gnuplot_quoted(series.name))) ++style;
  }
  if (plots.all().empty()) return "";
  const FigureSize size = size_of(figure);
  const int key = key_height(figure.series.size());
  return preparation(axes, size, blocks, plots.all(), x_values, kWidth - 90) +
         fmt::format("set tmargin 0.5\nset rmargin 1.5\nset bmargin at screen {}\n",
                     static_cast<double>(kAxisHeight + key) / size.height) +
         key_commands(key, size.height) + "replot\n";
}

FigureSize size_of(const Panel& panel) {
  return {std::max(columns_of(panel) * kSmallWidth, kWidth),
          rows_of(panel) * kSmallHeight + key_height(key_of(panel).size())};
}

std::string gnuplot_script(const Panel& panel) {
  const Axes axes{panel.x_label, panel.y_label, panel.log_x, panel.log_y};
  const std::vector<KeyEntry> key = key_of(panel);
  std::map<std::string, int> style_of;
  for (const KeyEntry& entry : key) style_of[entry.name] = entry.style;
  std::string blocks, drawings;
  std::set<double> x_values;
  std::vector<std::string> all;
  for (const Panel::Plot& plot : panel.plots) {
    Plots plots(axes, blocks, x_values);
    for (const Series& series : plot.series) plots.add(series, style_of[series.name], "notitle");
    std::vector<std::string> shown = plots.all();
    all.insert(all.end(), shown.begin(), shown.end());
    if (shown.empty()) shown.emplace_back("NaN notitle");  // the axes alone
    drawings += fmt::format("set title {} offset 0,-0.4\nplot {}\n", gnuplot_quoted(plot.title),
                            fmt::join(shown, ", "));
  }
  if (all.empty()) return "";
  std::vector<std::string> samples;
  for (const KeyEntry& entry : key) {
    samples.push_back(
        line_plot("NaN", entry.kind, entry.style, "title " + gnuplot_quoted(entry.name)));
  }
  const FigureSize size = size_of(panel);
  const double width = size.width, height = size.height;
  const int key_size = key_height(key.size());
  return preparation(axes, size, blocks, all, x_values, kSmallWidth - kLeft - 14) +
         fmt::format("set multiplot layout {},{} margins screen {},{},{},{} spacing screen {},{}\n",
                     rows_of(panel), columns_of(panel), kLeft / width, 1.0 - 14 / width,
                     (kAxisHeight + key_size) / height, 1.0 - kTitle / height, (kLeft + 14) / width,
                     (kAxisHeight + kTitle) / height) +
         drawings +
         // gnuplot begins a second column of the key where the margins leave too little height.
         fmt::format(
             "unset title\nunset xlabel\nunset ylabel\nunset border\nunset tics\nunset grid\n"
             "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\n"
             "set tmargin at screen {}\n",
             key_size / height) +
         key_commands(key_size, size.height) +
         fmt::format("plot {}\nunset multiplot\n", fmt::join(samples, ", "));
}

}  // namespace normlab
