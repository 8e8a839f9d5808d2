// The command line of init_gradients.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/init_gradients_report.hpp"
#include "experiments/progress_bar.hpp"

namespace normlab {

namespace {

constexpr int kCheckFailed = 1, kBadInput = 2;

constexpr int kMostThreads = 1024;

struct CommandLine {
  InitGradientsOptions options;
  std::vector<std::string> scale_names{"unit", "1/sqrt(d)"};
  std::vector<std::string> placement_names{"post", "pre"};
  std::string norm_name = "layernorm";
  std::int64_t profile_layers = 0;  // 0: not given
  std::string digits, json, report, figures;
  std::string command;  // as the report shows it
  int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  bool quiet = false;
};

std::string refusal(const std::string& must, const std::string& text) {
  return fmt::format("{}, got {}", must, text.empty() ? "nothing" : text);
}

// CLI11 alone would read -1 as 2^64 - 1, 010 as 8 and cut what is too large. Writes back what it
// understood.
template <typename T>
CLI::Validator whole_number(T low, T high) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        T value{};
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || rest != end || value < low || value > high) {
          return refusal(fmt::format("must be a whole number from {} to {}", low, high), text);
        }
        text = std::to_string(value);
        return {};
      },
      "");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::Validator(
      [=](const std::string& text) {
        const bool known = std::find(names.begin(), names.end(), text) != names.end();
        return known ? "" : refusal(fmt::format("must be {}", fmt::join(names, " or ")), text);
      },
      "");
}

CLI::Validator a_path() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? refusal("must name a file", text) : std::string();
      },
      "");
}

void define_sizes(CLI::App& app, CommandLine& line) {
  InitGradientsOptions& options = line.options;
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  const CLI::Validator depth = whole_number<std::int64_t>(1, kMostLayers);
  const CLI::Validator width = whole_number<std::int64_t>(1, kMostWidth);
  app.add_option("--seeds", options.seeds, "seeds of the weights")
      ->transform(whole_number<std::uint64_t>(0, kLargest))
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
      ->transform(whole_number<std::int64_t>(1, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
}

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a self-check failed; 2 for bad usage or bad input.");
  define_sizes(app, line);
  app.add_option("--input-scale", line.scale_names,
                 "scales of the embedded input: unit, 1/sqrt(d)\n"
                 "or positive numbers; the table over layers\nuses the first")
      ->capture_default_str();
  app.add_option("--placement", line.placement_names, "post, pre or both")
      ->check(one_of({"post", "pre"}))
      ->capture_default_str();
  app.add_option("--norm", line.norm_name, "layernorm or rmsnorm")
      ->check(one_of({"layernorm", "rmsnorm"}))
      ->capture_default_str();
  app.add_option("--digits", line.digits,
                 "a CSV file in the form of data/digits.csv\n[the built-in one]")
      ->check(a_path());
  app.add_option("--threads", line.threads,
                 "cells computed at a time; the output does\nnot depend on it")
      ->transform(whole_number(1, kMostThreads))
      ->capture_default_str();
  app.add_option("--json", line.json, "also write every cell to this file")->check(a_path());
  app.add_option("--report", line.report,
                 "also write figures and tables to this HTML page\n(figures need gnuplot)")
      ->check(a_path());
  app.add_option("--figures", line.figures, "also write the figures to this folder, as SVG")
      ->check(a_path());
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

void check_standard_output() {
  if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return;
  fail_file("init_gradients", "standard output", "is closed", "leave it open or use --quiet");
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
  if (!line.quiet) check_standard_output();
  if (!line.json.empty()) check_writable(line.json);
  if (!line.report.empty()) check_writable(line.report);
  if (!line.figures.empty()) check_figures_folder(line.figures);
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_file("init_gradients", "standard output", "cannot be written", "check where it goes to");
  }
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
  if (!line.quiet) print(text_of(result));
  if (!line.json.empty()) write_atomically(line.json, json_of(result));
  if (!line.report.empty()) write_atomically(line.report, html_of(report_of(result, line.command)));
  if (!line.figures.empty()) write_figures(figures_of(result), line.figures);
  if (result.checks_passed()) return 0;
  fmt::print(stderr,
             "init_gradients: a self-check failed (C1 must be below 1e-7, C2 below 1e-14 on "
             "centred tokens)\n");
  return kCheckFailed;
}

// Errors about options start with the program's name as it is.
void report(std::string_view message) {
  constexpr std::string_view kOwn = "[init_gradients] ";
  if (message.starts_with(kOwn)) message.remove_prefix(kOwn.size());
  fmt::print(stderr, "init_gradients: {}\n", message);
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
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& request) {  // --help, --version
      std::ostringstream text;
      app.exit(request, text);
      print(text.str());
      return 0;
    }
    return run(line);
  } catch (const CLI::ParseError& error) {
    report(fmt::format("{} (see --help)", error.what()));
  } catch (const std::bad_alloc&) {
    report("not enough memory: use fewer --threads, a smaller --width or --ffn, or fewer --layers");
  } catch (const std::exception& error) {
    report(error.what());
  }
  return kBadInput;
}

}  // namespace normlab
