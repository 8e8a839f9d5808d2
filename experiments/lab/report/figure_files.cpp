// Tested by tests/experiments/lab/report/figure_files_test.cpp.
#include "experiments/lab/report/figure_files.hpp"

#include <filesystem>
#include <system_error>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

std::string path_of(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / (name + ".svg")).string();
}

}  // namespace

void check_figures_folder(const std::string& folder, const Plotter& plotter) {
  const PlotterOutput output = run_gnuplot(plotter, "");
  if (!output.problem.empty()) {
    fail_file("report", "figures", "cannot be drawn: " + output.problem,
              "apt-get install gnuplot-nox");
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail_file("report", folder, "cannot be made: " + error.message(),
              "name a folder that you may write to");
  }
  check_writable(path_of(folder, "probe"));
}

void write_figures(const std::vector<HeatMap>& heat_maps, const std::vector<Figure>& figures,
                   const std::vector<Panel>& panels, const std::string& folder,
                   const Plotter& plotter) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const auto& figures_of_a_kind) {
    for (const auto& figure : figures_of_a_kind) {
      if (gnuplot_script(figure).empty()) continue;
      write_atomically(path_of(folder, figure.name), svg_of(figure, plotter));
    }
  };
  write(heat_maps);
  write(figures);
  write(panels);
}

}  // namespace normlab
