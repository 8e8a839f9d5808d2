#pragma once

#include <chrono>
#include <string>

namespace normlab {

// gnuplot as a child process: Debian's gnuplot-nox is enough.
struct Plotter {
  std::string program = "gnuplot";  // looked for on PATH
  std::chrono::milliseconds timeout{20000};
};

struct PlotterOutput {
  std::string text;     // what it wrote to standard output
  std::string problem;  // empty, or why there is no output: "gnuplot was not found", ...
};

// Runs the commands, without the user's gnuplotrc and in a locale with decimal points. No shell is
// involved; the script and the output go through files that have no name. A child that takes longer
// than the timeout is killed.
PlotterOutput run_gnuplot(const Plotter& plotter, const std::string& script);

// An expression that gnuplot reads back as this text: neither escapes nor `commands` are expanded
// in it. Control characters become spaces. A quote is joined from a string of its own: doubled
// inside single quotes, as the manual has it, it is misread where it stands first or beside
// another.
std::string gnuplot_quoted(const std::string& text);

}  // namespace normlab
