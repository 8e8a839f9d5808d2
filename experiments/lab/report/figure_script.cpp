// From figures to gnuplot's commands. Tested by tests/experiments/lab/report/figure_test.cpp and
// panel_test.cpp.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/report/figure_axes.hpp"
#include "experiments/lab/report/figure_colors.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

// In px. A narrow drawing keeps its 14 px letters readable when a phone shrinks it.
constexpr int kWidth = 460, kPlotHeight = 326, kAxisHeight = 58, kLineOfKey = 21;

int key_height(std::size_t series) { return kLineOfKey * static_cast<int>(series) + 4; }

std::string data_block(std::size_t index, const std::vector<Point>& points) {
  std::string text = fmt::format("$series{} << END\n", index);
  for (const Point& p : points) {
    text += std::isnan(p.x) ? "\n" : fmt::format("{} {} {} {}\n", p.x, p.y, p.low, p.high);
  }
  return text + "END\n";
}

std::string color_of(int style) {
  return fmt::format("rgb '{}'",
                     kSeriesPalette[static_cast<std::size_t>(style % kSeriesColors)].light);
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
  const std::string color = color_of(style);
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
  const std::string color = color_of(style);
  return points > 1 ? fmt::format(
                          "{} using 1:3:4 with filledcurves fillcolor {} fillstyle "
                          "transparent solid 0.18 noborder notitle",
                          data, color)
                    : fmt::format(
                          "{} using 1:2:3:4 with yerrorbars pointtype 0 linecolor {} "
                          "notitle",
                          data, color);
}

// The data and the plots of one drawing. Bands lie below every line.
class Plots {
 public:
  // Whether a point of the series can be drawn; otherwise nothing is added.
  bool add(const Figure& figure, std::size_t index, int style, const std::string& title) {
    const Series& series = figure.series[index];
    const std::vector<Point> points = points_of(figure, series);
    const auto drawn = static_cast<std::size_t>(std::count_if(
        points.begin(), points.end(), [](const Point& p) { return !std::isnan(p.x); }));
    if (drawn == 0) return false;
    const std::string data = fmt::format("$series{}", index);
    blocks_ += data_block(index, points);
    if (series.kind == Series::Kind::band) areas_.push_back(area_plot(data, drawn, style));
    lines_.push_back(line_plot(data + " using 1:2", series.kind, style, title));
    return true;
  }

  // Without any series: the axes alone.
  std::string commands() const {
    std::vector<std::string> plots = areas_;
    plots.insert(plots.end(), lines_.begin(), lines_.end());
    if (plots.empty()) plots.emplace_back("NaN notitle");
    return blocks_ + fmt::format("plot {}\n", fmt::join(plots, ", "));
  }

 private:
  std::string blocks_;
  std::vector<std::string> areas_, lines_;
};

std::string terminal(const FigureSize& size) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,14'\n",
      size.width, size.height);
}

// `top` in px.
std::string key_commands(double top, double height) {
  return fmt::format(
      "set key at screen 0.01, screen {} left top vertical maxcols 1 Left reverse samplen 3\n",
      top / height);
}

// The key is below the axis, at the left edge.
std::string frame_commands(const Figure& figure, const FigureSize& size, double key) {
  return terminal(size) +
         fmt::format(
             "set format '%g'\n"
             "set grid\nset border 3\nset tics nomirror scale 0.5\n"
             "set tmargin 0.5\nset rmargin 1.5\nset bmargin at screen {}\n",
             (kAxisHeight + key) / size.height) +
         key_commands(key, size.height) +
         fmt::format("set xlabel {} offset 0,0.3\nset ylabel {} offset 0.6,0\n",
                     gnuplot_quoted(figure.x_label), gnuplot_quoted(figure.y_label));
}

std::string titled(const std::string& name) { return "title " + gnuplot_quoted(name); }

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

std::string key_script(const std::vector<KeyEntry>& key) {
  const FigureSize size{kWidth, key_height(key.size())};
  std::vector<std::string> samples;
  samples.reserve(key.size());
  for (const KeyEntry& each : key) {
    samples.push_back(line_plot("NaN", each.kind, each.style, titled(each.name)));
  }
  // gnuplot begins a second column where the margins leave too little height.
  return terminal(size) +
         "set margins 0,0,0,0\nunset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n" +
         key_commands(size.height, size.height) +
         fmt::format("plot {}\n", fmt::join(samples, ", "));
}

std::vector<Figure> figures_of(const Panel& panel) {
  std::vector<Figure> figures;
  for (const Panel::Plot& plot : panel.plots) {
    figures.push_back({panel.name, plot.title, panel.x_label, panel.y_label, panel.log_x,
                       panel.log_y, plot.series, panel.alt, panel.caption});
  }
  return figures;
}

}  // namespace

FigureSize size_of(const Figure& figure) {
  return {kWidth, kPlotHeight + key_height(figure.series.size())};
}

std::string gnuplot_script(const Figure& figure) {
  const Axes axes = axes_around({&figure, 1});
  if (axes.empty()) return "";
  Plots plots;
  int measured = 0, theories = 0;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    int& style = figure.series[i].kind == Series::Kind::theory ? theories : measured;
    if (plots.add(figure, i, style, titled(figure.series[i].name))) ++style;
  }
  return frame_commands(figure, size_of(figure), key_height(figure.series.size())) +
         axes_commands(figure, axes, 1.0) + plots.commands();
}

FigureSize key_size_of(const Panel& panel) { return {kWidth, key_height(key_of(panel).size())}; }

PanelScripts gnuplot_scripts(const Panel& panel) {
  const std::vector<Figure> figures = figures_of(panel);
  const Axes axes = axes_around(figures);
  if (axes.empty()) return {};
  const std::vector<KeyEntry> key = key_of(panel);
  std::map<std::string, int> style_of;
  for (const KeyEntry& each : key) style_of[each.name] = each.style;
  PanelScripts scripts{{}, key_script(key)};
  for (const Figure& figure : figures) {
    Plots plots;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
      plots.add(figure, i, style_of[figure.series[i].name], "notitle");
    }
    constexpr double kRoom = static_cast<double>(kSmallPlot.width) / kWidth;
    scripts.plots.push_back(frame_commands(figure, kSmallPlot, 0.0) +
                            axes_commands(figure, axes, kRoom) + plots.commands());
  }
  return scripts;
}

}  // namespace normlab
