// Tested through the programs by tests/experiments.
#include "experiments/lab/program/outputs.hpp"

#include <filesystem>
#include <system_error>

#include "core/atomic_file.hpp"
#include "core/check.hpp"

namespace normlab {

void add_outputs(CLI::App& app, Outputs& outputs) {
  app.add_option("--json", outputs.json, "also write every number to this file")
      ->check(command_line::a_path());
  app.add_option("--report", outputs.report,
                 "also write figures and tables to this HTML page\n(figures need gnuplot)")
      ->check(command_line::a_path());
  app.add_option("--figures", outputs.figures, "also write the figures to this folder, as SVG")
      ->check(command_line::a_path());
}

void check_different(const std::string& program,
                     const std::vector<std::pair<std::string, std::string>>& files) {
  const auto place = [](const std::string& path) {
    std::error_code error;
    const auto canonical =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
    return error ? std::filesystem::path(path) : canonical;
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (files[i].second.empty() || files[j].second.empty()) continue;
      check(place(files[i].second) != place(files[j].second), program, files[j].first,
            "must name another file than " + files[i].first, files[j].second);
    }
  }
}

void check_outputs(const std::string& program, const Outputs& outputs,
                   const std::vector<std::pair<std::string, std::string>>& others) {
  std::vector<std::pair<std::string, std::string>> files = others;
  files.emplace_back("--json", outputs.json);
  files.emplace_back("--report", outputs.report);
  check_different(program, files);
  if (!outputs.json.empty()) check_writable(outputs.json);
  if (!outputs.report.empty()) check_writable(outputs.report);
  if (!outputs.figures.empty()) check_figures_folder(outputs.figures);
}

void write_outputs(const Outputs& outputs, const std::function<std::string()>& json,
                   const std::function<Report()>& report) {
  if (!outputs.json.empty()) write_atomically(outputs.json, json());
  if (outputs.report.empty() && outputs.figures.empty()) return;
  const Report page = report();
  if (!outputs.report.empty()) write_atomically(outputs.report, html_of(page));
  if (!outputs.figures.empty())
    write_figures(page.heat_maps, page.figures, page.panels, outputs.figures);
}

}  // namespace normlab
