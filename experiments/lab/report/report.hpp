#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/lab/report/figure.hpp"

// What an experiment found, as a page that needs nothing but a browser. Every text here is plain:
// nothing in it is read as markup, as a gnuplot command or by a shell.
namespace normlab {

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
std::string svg_of(const HeatMap& map, const Plotter& plotter = {});

// Each figure, heat map and panel that has anything to draw as <folder>/<name>.svg, atomically;
// makes the folder. check_figures_folder, for before a long computation, throws std::runtime_error
// if gnuplot or the folder would fail.
void check_figures_folder(const std::string& folder, const Plotter& plotter = {});
void write_figures(const std::vector<HeatMap>& heat_maps, const std::vector<Figure>& figures,
                   const std::vector<Panel>& panels, const std::string& folder,
                   const Plotter& plotter = {});

// The command line to print in a report, quoted for a shell. Of the values of `path_options` only
// the file's name is kept: in which folder someone keeps it is nobody else's business.
std::string command_text(const std::string& program, int argc, const char* const* argv,
                         const std::vector<std::string>& path_options);

}  // namespace normlab
