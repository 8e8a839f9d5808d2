#pragma once

#include <string>
#include <vector>

#include "experiments/lab/report/figure.hpp"

// Figures as files.
namespace normlab {

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

}  // namespace normlab
