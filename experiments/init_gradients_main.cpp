// The command line of init_gradients.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/command_line.hpp"
#include "experiments/init_gradients_report.hpp"
#include "experiments/progress_bar.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "init_gradients";

struct CommandLine {
  InitGradientsOptions options;
  std::vector<std::string> scale_names{"unit", "1/sqrt(d)"};
  std::vector<std::string> placement_names{"post", "pre"};
  std::string norm_name = "layernorm";
  std::int64_t profile_layers = 0;  // 0: not given
  std::string digits, json, report, figures;
  std::string command;  // as the report shows it
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define_sizes(CLI::App& app, CommandLine& line) {
  InitGradientsOptions& options = line.options;
  const CLI::Validator depth = command_line::whole_number(1, kMostLayers);
  const CLI::Validator width = command_line::whole_number(1, kMostWidth);
  app.add_option("--seeds", options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  app.add_option("--layers", options.layers, "depths of the depth table")
      ->transform(depth)
      ->capture_default_str();
  app.add_option("--profile-layers", line.profile_layers,
                 "depth of the table over layers\n[12 if among --layers, else the deepest]")
      ->transform(depth);
  app.add_option("--width", options.model.width, "width d of a token")
      ->transform(width)
      ->capture_default_str();
  app.add_option("--heads", options.model.heads, "attention heads; they divide the width")
      ->transform(width)
      ->capture_default_str();
  app.add_option("--ffn", options.model.ffn, "width of the feed-forward network")
      ->transform(width)
      ->capture_default_str();
  app.add_option("--images", options.images, "how many of the digits, from the first")
      ->transform(command_line::whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
}

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer(
      "Exit code: 0; 1 if a self-check failed or a\nnumber is not finite; 2 for bad usage or bad "
      "input.");
  define_sizes(app, line);
  app.add_option("--input-scale", line.scale_names,
                 "scales of the embedded input: unit, 1/sqrt(d)\n"
                 "or positive numbers; the table over layers\nuses the first")
      ->capture_default_str();
  app.add_option("--placement", line.placement_names, "post, pre or, for both, post pre")
      ->check(command_line::one_of({"post", "pre"}))
      ->capture_default_str();
  app.add_option("--norm", line.norm_name, "layernorm or rmsnorm")
      ->check(command_line::one_of({"layernorm", "rmsnorm"}))
      ->capture_default_str();
  app.add_option("--digits", line.digits,
                 "a CSV file in the form of data/digits.csv\n[the built-in one]")
      ->check(command_line::a_path());
  app.add_option("--threads", line.threads,
                 "cells computed at a time; the output does\nnot depend on it")
      ->transform(command_line::whole_number(1, command_line::kMostThreads))
      ->capture_default_str();
  app.add_option("--json", line.json, "also write every cell to this file")
      ->check(command_line::a_path());
  app.add_option("--report", line.report,
                 "also write figures and tables to this HTML page\n(figures need gnuplot)")
      ->check(command_line::a_path());
  app.add_option("--figures", line.figures, "also write the figures to this folder, as SVG")
      ->check(command_line::a_path());
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

InputScale parse_scale(const std::string& text, std::int64_t width) {
  if (text == "unit") return {text, 1.0};
  if (text == "1/sqrt(d)") return {text, 1.0 / std::sqrt(static_cast<double>(width))};
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && rest == text.data() + text.size(), "init_gradients",
        "--input-scale", "must be unit, 1/sqrt(d) or positive numbers",
        text.empty() ? "nothing" : text);
  return {text, value};
}

// An output over the input, or over another output, would lose one of them.
void check_distinct(const std::vector<std::pair<std::string, std::string>>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      check(files[i].second.empty() || files[i].second != files[j].second, kProgram, files[j].first,
            "must name another file than " + files[i].first, files[j].second);
    }
  }
}

// Everything that can be refused without computing is refused here.
void complete(CommandLine& line) {
  InitGradientsOptions& options = line.options;
  options.scales.clear();
  for (const std::string& text : line.scale_names) {
    options.scales.push_back(parse_scale(text, options.model.width));
  }
  options.placements.clear();
  for (const std::string& text : line.placement_names) {
    options.placements.push_back(text == "pre" ? Placement::pre : Placement::post);
  }
  options.model.norm = line.norm_name == "rmsnorm" ? Norm::rmsnorm : Norm::layernorm;
  const std::vector<std::int64_t>& layers = options.layers;
  if (line.profile_layers != 0) {
    options.profile_layers = line.profile_layers;
  } else if (!layers.empty() &&
             std::find(layers.begin(), layers.end(), options.profile_layers) == layers.end()) {
    options.profile_layers = *std::max_element(layers.begin(), layers.end());
  }
  check_options(options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_distinct({{"--digits", line.digits}, {"--json", line.json}, {"--report", line.report}});
  if (!line.json.empty()) check_writable(line.json);
  if (!line.report.empty()) check_writable(line.report);
  if (!line.figures.empty()) check_figures_folder(line.figures);
}

int run(CommandLine line) {
  complete(line);
  const Digits digits = line.digits.empty() ? load_digits() : load_digits(line.digits);
  InitGradientsResult result;
  {
    ProgressBar bar(!line.quiet);
    result = run_init_gradients(line.options, digits, line.threads,
                                [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  if (!line.json.empty()) write_atomically(line.json, json_of(result));
  if (!line.report.empty()) write_atomically(line.report, html_of(report_of(result, line.command)));
  if (!line.figures.empty()) write_figures(figures_of(result), line.figures);
  if (!result.all_finite()) {
    fmt::print(stderr, "{}: some numbers are not finite: use a smaller --input-scale\n", kProgram);
    return command_line::kCheckFailed;
  }
  if (result.checks_passed()) return 0;
  fmt::print(
      stderr,
      "{}: a self-check failed (C1: a gradient is not the derivative of the loss, or C2: the "
      "norms differ on centred tokens)\n",
      kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int init_gradients_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command =
      command_text("init_gradients", argc, argv, {"--digits", "--json", "--report", "--figures"});
  CLI::App app(
      "Gradients of untrained post-norm and pre-norm transformers on digits\n(Xiong et al. 2020)",
      "init_gradients");
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
