#include "experiments/lab/report/figure_files.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

const Plotter kNoGnuplot{"normlab-no-such-gnuplot"};

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("write_figures: every figure is a file of the folder, which is made") {
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string folder = stand_in.folder() + "/new/figures";
  check_figures_folder(folder, {stand_in.program()});
  std::vector<Figure> figures{sample_figure("one"), sample_figure("two")};
  std::vector<Panel> panels{sample_panel("panel")};
  // Two without anything to draw are left out.
  figures.push_back(sample_figure("nothing"));
  figures.back().series.clear();
  panels.push_back(sample_panel("none"));
  for (Panel::Plot& plot : panels.back().plots) plot.series.clear();
  write_figures({sample_heat_map("map")}, figures, panels, folder, {stand_in.program()});
  CHECK(contents(folder + "/one.svg") == svg_of(sample_figure("one"), {stand_in.program()}));
  CHECK(contents(folder + "/map.svg") == svg_of(sample_heat_map("map"), {stand_in.program()}));
  CHECK(contents(folder + "/panel.svg") == svg_of(sample_panel("panel"), {stand_in.program()}));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 4);
}

TEST_CASE("check_figures_folder: a missing gnuplot and a file in the way are refused") {
  CHECK_THROWS_WITH_AS(check_figures_folder(".", kNoGnuplot),
                       doctest::Contains("apt-get install gnuplot-nox"), std::runtime_error);
  const PlotterStandIn stand_in("true");
  CHECK_THROWS_AS(check_figures_folder(stand_in.program(), {stand_in.program()}),
                  std::runtime_error);
}
