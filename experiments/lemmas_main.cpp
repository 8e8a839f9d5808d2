// The command line of lemmas.
#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/command_line.hpp"
#include "experiments/lemmas.hpp"
#include "experiments/progress_bar.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "lemmas";

struct CommandLine {
  LemmaOptions options;
  std::string json, report, figures;
  std::string command;  // as the report shows it
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define(CLI::App& app, CommandLine& line) {
  LemmaOptions& options = line.options;
  MeanFieldSetting& s = options.setting;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer(
      "Exit code: 0; 1 if a claim that is proved in this setting does not hold;\n2 for bad usage "
      "or bad input.");
  const auto size = [&](const char* option, auto& value, std::int64_t low, std::int64_t high,
                        const char* help) {
    app.add_option(option, value, help)
        ->transform(command_line::whole_number(low, high))
        ->capture_default_str();
  };
  size("--layers", options.depths, 1, 1000, "depths L, at the width --width");
  size("--width", s.width, 3, 8192, "width d of a token where the depth varies");
  size("--widths", options.widths, 3, 8192, "widths d, at 6 layers");
  size("--tokens", s.tokens, 1, 4096, "tokens of a sequence");
  size("--sequences", s.sequences, 1, 4096, "sequences");
  size("--classes", s.classes, 2, 65'536, "classes, one drawn for every token");
  size("--seeds", options.seeds, 3, 100'000, "how many seeds: 0, 1, ...");
  app.add_option("--input-correlation", s.input.within, "of two tokens of a sequence, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  app.add_option("--threads", line.threads,
                 "cells computed at a time; the output does\nnot depend on it")
      ->transform(command_line::whole_number(1, command_line::kMostThreads))
      ->capture_default_str();
  app.add_option("--json", line.json, "also write every number to this file")
      ->check(command_line::a_path());
  app.add_option("--report", line.report,
                 "also write figures and tables to this HTML page\n(figures need gnuplot)")
      ->check(command_line::a_path());
  app.add_option("--figures", line.figures, "also write the figures to this folder, as SVG")
      ->check(command_line::a_path());
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

// Everything that can be refused without computing is refused here.
void complete(CommandLine& line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check(line.json.empty() || line.json != line.report, kProgram, "--report",
        "must name another file than --json", line.report);
  if (!line.json.empty()) check_writable(line.json);
  if (!line.report.empty()) check_writable(line.report);
  if (!line.figures.empty()) check_figures_folder(line.figures);
}

int run(CommandLine& line) {
  complete(line);
  LemmaResult result;
  {
    ProgressBar bar(!line.quiet);
    result = run_lemmas(line.options, line.threads,
                        [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  if (!line.json.empty()) write_atomically(line.json, json_of(result));
  if (!line.report.empty()) write_atomically(line.report, html_of(report_of(result, line.command)));
  if (!line.figures.empty()) write_figures(figures_of(result), line.figures);
  if (result.proved_claims_hold()) return 0;
  fmt::print(stderr, "{}: a claim that is proved in this setting does not hold\n", kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int lemmas_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app("The lemmas and the theorem of Xiong et al. (2020), measured in their setting",
               kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
