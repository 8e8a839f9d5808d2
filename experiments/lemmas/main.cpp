// The command line of lemmas.
#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/lemmas/lemmas.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "lemmas";

struct CommandLine {
  LemmaOptions options;
  Outputs outputs;
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
  command_line::add_whole_number(app, "--layers", options.depths, 1, 1000,
                                 "depths L, at the width --width");
  command_line::add_whole_number(app, "--width", s.width, 3, 8192,
                                 "width d of a token where the depth varies");
  command_line::add_whole_number(app, "--widths", options.widths, 3, 8192, "widths d, at 6 layers");
  command_line::add_whole_number(app, "--tokens", s.tokens, 1, 4096, "tokens of a sequence");
  command_line::add_whole_number(app, "--sequences", s.sequences, 1, 4096, "sequences");
  command_line::add_whole_number(app, "--classes", s.classes, 2, 65'536,
                                 "classes, one drawn for every token");
  command_line::add_whole_number(app, "--seeds", options.seeds, 3, 100'000,
                                 "how many seeds: 0, 1, ...");
  app.add_option("--input-correlation", s.input.within, "of two tokens of a sequence, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_threads(app, line.threads);
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

// Everything that can be refused without computing is refused here.
void complete(CommandLine& line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs);
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
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
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
