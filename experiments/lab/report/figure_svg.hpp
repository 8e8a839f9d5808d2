#pragma once

#include <string>
#include <vector>

#include "experiments/lab/report/report.hpp"

// The parts that a page and a file of its own are made of.
namespace normlab {

// Plain text as text or attribute value of HTML or XML.
std::string escape_markup(const std::string& text);

// In px.
struct FigureSize {
  int width, height;
};

// The commands that make gnuplot write the figure as SVG, of size_of, to standard output. Empty if
// no series has a point that can be drawn.
std::string gnuplot_script(const Figure& figure);
FigureSize size_of(const Figure& figure);

// The commands for each plot of a panel, of kSmallPlot, and for their key, of key_size_of. Nothing
// if no series has a point that can be drawn.
struct PanelScripts {
  std::vector<std::string> plots;
  std::string key;
};
inline constexpr FigureSize kSmallPlot{300, 232};
PanelScripts gnuplot_scripts(const Panel& panel);
FigureSize key_size_of(const Panel& panel);

// An <svg> element for a page, or for a file of its own (with the namespace, the style and a
// background). Ids start with the figure's name. Either `svg` or `problem` is empty.
struct DrawnFigure {
  std::string svg, problem;
};
enum class SvgFor { page, file };
DrawnFigure draw(const Figure& figure, const Plotter& plotter, SvgFor use);
std::string draw(const HeatMap& map, SvgFor use);
FigureSize size_of(const HeatMap& map);

// The drawings of a panel's plots and of its key, as elements for an <svg>. Ids start with the
// panel's name and what ids_of_plot and ids_of_key add. Nothing is drawn if there is a problem.
struct DrawnPanel {
  std::vector<std::string> plots;
  std::string key, problem;
};
DrawnPanel draw(const Panel& panel, const Plotter& plotter);
std::string ids_of_plot(const Panel& panel, std::size_t plot);
std::string ids_of_key(const Panel& panel);

// gnuplot's drawing by a script, as elements for an <svg>; ids start with `ids` and a dash.
DrawnFigure gnuplot_drawing(const std::string& script, const std::string& ids,
                            const Plotter& plotter);

// The <svg> element around a drawing. `style` is that of a file of its own; pages have one for all.
struct SvgParts {
  std::string name, title, alt;
  FigureSize size;
  std::string style, drawing;
};
std::string svg_element(const SvgParts& parts, SvgFor use);

// The style sheet that gives the classes of `draw` their colours, for light and dark. Series beyond
// as many as there are colours begin again, told apart by marks and dashes.
inline constexpr int kSeriesColors = 6;
std::string figure_style();
std::string heat_map_style();

// Throws std::invalid_argument, naming the figure, if its parts do not fit together.
void check_figure(const Figure& figure);
void check_figure(const HeatMap& map);
void check_figure(const Panel& panel);

// Throws std::runtime_error if there is a problem with drawing the figure of this name.
void check_drawn(const std::string& name, const std::string& problem);

}  // namespace normlab
