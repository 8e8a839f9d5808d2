// The command line of init_gradients.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/init_gradients_report.hpp"
#include "experiments/progress_bar.hpp"

namespace normlab {

namespace {

constexpr int kCheckFailed = 1, kBadInput = 2;

struct CommandLine {
  InitGradientsOptions options;
  std::vector<std::string> scale_names{"unit", "1/sqrt(d)"};
  std::int64_t profile_layers = 0;  // 0: not given
  std::string digits, json, report, figures;
  std::string command;  // as the report shows it
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool quiet = false;
};

void define(CLI::App& app, CommandLine& line) {
  InitGradientsOptions& options = line.options;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.add_option("--seeds", options.seeds, "seeds of the weights")->capture_default_str();
  app.add_option("--layers", options.layers, "depths of the depth table")->capture_default_str();
  app.add_option("--profile-layers", line.profile_layers,
                 "depth of the table over layers [12 if among --layers, else the deepest]");
  app.add_option("--width", options.model.width, "width d of a token")->capture_default_str();
  app.add_option("--heads", options.model.heads, "attention heads; they divide the width")
      ->capture_default_str();
  app.add_option("--ffn", options.model.ffn, "width of the feed-forward network")
      ->capture_default_str();
  app.add_option("--images", options.images, "how many of the digits, from the first")
      ->capture_default_str();
  app.add_option("--input-scale", line.scale_names,
                 "scales of the embedded input: unit, 1/sqrt(d) or positive numbers; the table "
                 "over layers uses the first")
      ->capture_default_str();
  const std::map<std::string, Placement> placements{{"post", Placement::post},
                                                    {"pre", Placement::pre}};
  app.add_option("--placement", options.placements, "post, pre or both [post pre]")
      ->transform(CLI::CheckedTransformer(placements).description(""));
  const std::map<std::string, Norm> norms{{"layernorm", Norm::layernorm},
                                          {"rmsnorm", Norm::rmsnorm}};
  app.add_option("--norm", options.model.norm, "layernorm or rmsnorm [layernorm]")
      ->transform(CLI::CheckedTransformer(norms).description(""));
  app.add_option("--digits", line.digits,
                 "a CSV file in the form of data/digits.csv [the built-in one]");
  app.add_option("--threads", line.threads,
                 "cells computed at a time; the output does not depend on it")
      ->capture_default_str();
  app.add_option("--json", line.json, "also write every cell to this file");
  app.add_option("--report", line.report,
                 "also write figures and tables to this HTML page (figures need gnuplot)");
  app.add_option("--figures", line.figures, "also write the figures to this folder, as SVG");
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

InputScale parse_scale(const std::string& text, std::int64_t width) {
  if (text == "unit") return {text, 1.0};
  if (text == "1/sqrt(d)") return {text, 1.0 / std::sqrt(static_cast<double>(width))};
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && rest == text.data() + text.size(), "init_gradients",
        "--input-scale", "must be unit, 1/sqrt(d) or numbers", text);
  return {text, value};
}

void complete(CommandLine& line) {
  InitGradientsOptions& options = line.options;
  check_at_least("init_gradients", "--width", static_cast<double>(options.model.width), 1.0);
  options.scales.clear();
  for (const std::string& text : line.scale_names) {
    options.scales.push_back(parse_scale(text, options.model.width));
  }
  const std::vector<std::int64_t>& layers = options.layers;
  if (line.profile_layers != 0) {
    options.profile_layers = line.profile_layers;
  } else if (!layers.empty() &&
             std::find(layers.begin(), layers.end(), options.profile_layers) == layers.end()) {
    options.profile_layers = *std::max_element(layers.begin(), layers.end());
  }
  check_options(options);
  check(line.threads >= 1, "init_gradients", "--threads", "must be at least 1",
        std::to_string(line.threads));
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
  if (!line.quiet) {
    const std::string text = text_of(result);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      fail_file("init_gradients", "standard output", "cannot be written", "check where it goes to");
    }
  }
  if (!line.json.empty()) write_atomically(line.json, json_of(result));
  if (!line.report.empty()) write_atomically(line.report, html_of(report_of(result, line.command)));
  if (!line.figures.empty()) write_figures(figures_of(result), line.figures);
  if (result.checks_passed()) return 0;
  fmt::print(stderr,
             "init_gradients: a self-check failed (C1 must be below 1e-7, C2 below 1e-14 on "
             "centred tokens)\n");
  return kCheckFailed;
}

}  // namespace

int init_gradients_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command =
      command_text("init_gradients", argc, argv, {"--digits", "--json", "--report", "--figures"});
  CLI::App app(
      "Gradients of untrained post-norm and pre-norm transformers on digits (Xiong et al. 2020)",
      "init_gradients");
  define(app, line);
  try {
    app.parse(argc, argv);
    return run(line);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "init_gradients: {} (see --help)\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "init_gradients: {}\n", error.what());
  }
  return kBadInput;
}

}  // namespace normlab
