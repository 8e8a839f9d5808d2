#pragma once

#include <string>

#include "experiments/report.hpp"

// The parts that a page and a file of its own are made of.
namespace normlab {

// Plain text as text or attribute value of HTML or XML.
std::string escape_markup(const std::string& text);

// The commands that make gnuplot write the figure as SVG to standard output. Empty if no series has
// a point that can be drawn.
std::string gnuplot_script(const Figure& figure);

// The size that gnuplot_script asks for, in px.
struct FigureSize {
  int width, height;
};
FigureSize size_of(const Figure& figure);

// An <svg> element for a page, or for a file of its own (with the namespace, the style and a
// background). Ids start with the figure's name. Either `svg` or `problem` is empty.
struct DrawnFigure {
  std::string svg, problem;
};
enum class SvgFor { page, file };
DrawnFigure draw(const Figure& figure, const Plotter& plotter, SvgFor use);

// The style sheet that gives the classes of `draw` their colours, for light and dark. Series beyond
// as many as there are colours begin again, told apart by marks and dashes.
inline constexpr int kSeriesColors = 6;
std::string figure_style();

// Throws std::invalid_argument, naming the figure, if its parts do not fit together.
void check_figure(const Figure& figure);

}  // namespace normlab
