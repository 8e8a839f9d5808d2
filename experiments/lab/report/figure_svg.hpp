#pragma once

#include <string>

#include "experiments/lab/report/figure_files.hpp"

// The parts that a page and a file of its own are made of.
namespace normlab {

// Plain text as text or attribute value of HTML or XML.
std::string escape_markup(const std::string& text);

// In px.
struct FigureSize {
  int width, height;
};

// The commands that make gnuplot write a drawing as SVG, of size_of, to standard output. Empty if
// there is no number that can be drawn.
std::string gnuplot_script(const Figure& figure);
std::string gnuplot_script(const Panel& panel);
std::string gnuplot_script(const HeatMap& map);
FigureSize size_of(const Figure& figure);
FigureSize size_of(const Panel& panel);
FigureSize size_of(const HeatMap& map);

// What all scripts begin with: a drawing of this size, text without markup.
std::string gnuplot_terminal(const FigureSize& size);

// An <svg> element for a page, or for a file of its own (with the namespace, the style and a
// background). Ids start with the figure's name. Either `svg` or `problem` is empty.
struct DrawnFigure {
  std::string svg, problem;
};
enum class SvgFor { page, file };
DrawnFigure draw(const Figure& figure, const Plotter& plotter, SvgFor use);
DrawnFigure draw(const Panel& panel, const Plotter& plotter, SvgFor use);
DrawnFigure draw(const HeatMap& map, const Plotter& plotter, SvgFor use);

// The style sheet that gives the classes of `draw` their colours, for light and dark. Series beyond
// as many as there are colours begin again, told apart by marks and dashes.
inline constexpr int kSeriesColors = 6, kHeatSteps = 9;
std::string figure_style();

// Throws std::invalid_argument, naming the figure, if its parts do not fit together.
void check_figure(const Figure& figure);
void check_figure(const HeatMap& map);
void check_figure(const Panel& panel);

}  // namespace normlab
