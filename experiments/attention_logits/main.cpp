// The command line of attention_logits.
#include <fmt/format.h>

#include "experiments/attention_logits/rows.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "attention_logits";
constexpr std::int64_t kMostWidth = 4096;

struct CommandLine {
  AttentionLogitsOptions options;
  std::string command;
  Outputs outputs;
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define(CLI::App& app, CommandLine& line) {
  AttentionLogitsOptions& options = line.options;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer(
      "Exit code: 0; 1 if a logit is above its bound or a number\nnot finite; 2 for bad usage.");
  command_line::add_choices(app, "--qk-norm", options.variants, "normalization of queries and keys",
                            attention_variants());
  app.add_option("--scale", options.scales, "what W_Q and W_K are multiplied by")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token");
  command_line::add_whole_number(app, "--heads", options.heads, 1, kMostWidth,
                                 "attention heads; they divide the width");
  command_line::add_whole_number(app, "--images", options.images, 1, load_digits().size(),
                                 "how many of the digits, from the first");
  command_line::add_threads(app, line.threads);
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no table and no progress bar");
}

// What must hold and does not, a line each.
std::string faults(const AttentionLogitsResult& result) {
  constexpr double kRounding = 1e-12;
  std::string lines;
  if (!result.all_finite()) lines += fmt::format("{}: some numbers are not finite\n", kProgram);
  for (const AttentionLogitsCell& cell : result.cells) {
    const double bound = logit_bound(result.options, cell.variant);
    if (cell.largest_logit <= bound * (1.0 + kRounding)) continue;
    lines += fmt::format("{}: {} at scale {:g}: a logit of {:.4g} is above its bound {:.4g}\n",
                         kProgram, cell.variant, cell.scale, cell.largest_logit, bound);
  }
  return lines;
}

int run(const CommandLine& line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs);
  AttentionLogitsResult result;
  {
    ProgressBar bar(!line.quiet);
    result = run_attention_logits(line.options, load_digits(), line.threads,
                                  [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  const std::string wrong = faults(result);
  if (wrong.empty()) return 0;
  fmt::print(stderr, "{}", wrong);
  return command_line::kCheckFailed;
}

}  // namespace

int attention_logits_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app(
      "Attention logits and entropy against the size of the query and key weights,\nwithout and "
      "with query-key normalization",
      kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
