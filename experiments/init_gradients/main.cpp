// The command line of init_gradients.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/init_gradients/report.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "init_gradients";

struct CommandLine {
  InitGradientsOptions options;
  std::vector<std::string> scale_names{"unit", "1/sqrt(d)"};
  std::int64_t profile_layers = 0;  // 0: not given
  std::string digits;
  Outputs outputs;
  std::string command;  // as the report shows it
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define_sizes(CLI::App& app, CommandLine& line) {
  InitGradientsOptions& options = line.options;
  const CLI::Validator depth = command_line::whole_number(1, kMostLayers);
  app.add_option("--seeds", options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers,
                                 "depths of the depth table");
  app.add_option("--profile-layers", line.profile_layers,
                 "depth of the table over layers\n[12 if among --layers, else the deepest]")
      ->transform(depth);
  command_line::add_whole_number(app, "--width", options.model.d_model, 1, kMostWidth,
                                 "width d of a token");
  command_line::add_whole_number(app, "--heads", options.model.nhead, 1, kMostWidth,
                                 "attention heads; they divide the width");
  command_line::add_whole_number(app, "--ffn", options.model.dim_feedforward, 1, kMostWidth,
                                 "width of the feed-forward network");
  command_line::add_whole_number(app, "--images", options.images, 1,
                                 std::numeric_limits<std::int64_t>::max(),
                                 "how many of the digits, from the first");
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
  command_line::add_placements(app, line.options.placements, "placements of the norm",
                               nn::placements().names());
  command_line::add_choice(app, "--norm", line.options.model.norm, "the norm", nn::norms().names());
  app.add_option("--digits", line.digits,
                 "a CSV file in the form of data/digits.csv\n[the built-in one]")
      ->check(command_line::a_path());
  command_line::add_threads(app, line.threads);
  add_outputs(app, line.outputs);
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

// Everything that can be refused without computing is refused here.
void complete(CommandLine& line) {
  InitGradientsOptions& options = line.options;
  options.scales.clear();
  for (const std::string& text : line.scale_names) {
    options.scales.push_back(parse_scale(text, options.model.d_model));
  }
  const std::vector<std::int64_t>& layers = options.layers;
  if (line.profile_layers != 0) {
    options.profile_layers = line.profile_layers;
  } else if (!layers.empty() &&
             std::find(layers.begin(), layers.end(), options.profile_layers) == layers.end()) {
    options.profile_layers = *std::max_element(layers.begin(), layers.end());
  }
  check_options(options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs, {{"--digits", line.digits}});
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
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
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
