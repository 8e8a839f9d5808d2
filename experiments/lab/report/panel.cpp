// Small plots with one key. Tested by tests/experiments/lab/report/panel_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

// In px, of the file. On a page the browser lays the plots out.
constexpr int kTitleHeight = 24, kGap = 16;

int columns_of(std::size_t plots) {
  return plots == 4 ? 2 : static_cast<int>(std::min<std::size_t>(plots, 3));
}

// An <svg> within the file's: what is too wide for it is cut off.
std::string placed(int x, int y, const FigureSize& size, const std::string& elements) {
  return fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n{}</svg>\n", x, y,
                     size.width, size.height, elements);
}

std::string titled_plot(const std::string& title, const std::string& drawing) {
  return fmt::format(
      "<text x=\"4\" y=\"16\" font-family=\"sans-serif\" font-size=\"14\" font-weight=\"600\" "
      "fill=\"currentColor\">{}</text>\n<g transform=\"translate(0,{})\">\n{}</g>\n",
      escape_markup(title), kTitleHeight, drawing);
}

}  // namespace

std::string ids_of_plot(const Panel& panel, std::size_t plot) {
  return fmt::format("{}-{}", panel.name, plot + 1);
}

std::string ids_of_key(const Panel& panel) { return panel.name + "-key"; }

DrawnPanel draw(const Panel& panel, const Plotter& plotter) {
  check_figure(panel);
  const PanelScripts scripts = gnuplot_scripts(panel);
  if (scripts.plots.empty()) return {{}, "", "it has no finite number to draw"};
  DrawnPanel drawn;
  const auto drawing = [&](const std::string& script, const std::string& ids) {
    // Once gnuplot has failed it is not waited for again.
    if (!drawn.problem.empty()) return std::string();
    const DrawnFigure each = gnuplot_drawing(script, ids, plotter);
    drawn.problem = each.problem;
    return each.svg;
  };
  for (std::size_t i = 0; i < scripts.plots.size(); ++i) {
    drawn.plots.push_back(drawing(scripts.plots[i], ids_of_plot(panel, i)));
  }
  drawn.key = drawing(scripts.key, ids_of_key(panel));
  if (!drawn.problem.empty()) return {{}, "", drawn.problem};
  return drawn;
}

std::string svg_of(const Panel& panel, const Plotter& plotter) {
  const DrawnPanel drawn = draw(panel, plotter);
  check_drawn(panel.name, drawn.problem);
  const FigureSize cell{kSmallPlot.width, kTitleHeight + kSmallPlot.height};
  const FigureSize key = key_size_of(panel);
  const int columns = columns_of(panel.plots.size());
  std::string parts;
  int x = 0, y = 0;
  for (std::size_t i = 0; i < drawn.plots.size(); ++i) {
    const int place = static_cast<int>(i);
    x = place % columns * (cell.width + kGap);
    y = place / columns * (cell.height + kGap);
    parts += placed(x, y, cell, titled_plot(panel.plots[i].title, drawn.plots[i]));
  }
  y += cell.height + kGap;
  parts += placed(0, y, key, drawn.key);
  const int width = std::max(columns * (cell.width + kGap) - kGap, key.width);
  return svg_element(
             {panel.name, panel.title, panel.alt, {width, y + key.height}, figure_style(), parts},
             SvgFor::file) +
         "\n";
}

}  // namespace normlab
