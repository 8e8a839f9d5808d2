// Figures as files, and the command line of a report. Tested by
// tests/experiments/lab/report/report_test.cpp.
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/report/figure_svg.hpp"
#include "experiments/lab/report/report.hpp"

namespace normlab {

namespace {

std::string path_of(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / (name + ".svg")).string();
}

// As one word of a POSIX shell.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string file_part(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::filesystem::path name =
      whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.string();
}

// "--option=value" with the value's folders left out, or the argument as it is.
std::string without_folders(const std::string& argument,
                            const std::vector<std::string>& path_options) {
  for (const std::string& option : path_options) {
    const std::string start = option + "=";
    if (argument.starts_with(start)) return start + file_part(argument.substr(start.size()));
  }
  return argument;
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

std::string command_text(const std::string& program, int argc, const char* const* argv,
                         const std::vector<std::string>& path_options) {
  std::string text = program;
  bool is_path = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    text += ' ';
    text += shell_quoted(is_path ? file_part(argument) : without_folders(argument, path_options));
    is_path = std::find(path_options.begin(), path_options.end(), argument) != path_options.end();
  }
  return text;
}

}  // namespace normlab
