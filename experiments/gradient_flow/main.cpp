// The command line of gradient_flow.
#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/gradient_flow/report.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "gradient_flow";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 1'000'000;

struct CommandLine {
  GradientFlowOptions options;
  std::string command;
  Outputs outputs;
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define(CLI::App& app, CommandLine& line) {
  GradientFlowOptions& options = line.options;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 2 for bad usage. Runs that diverge are results.");
  command_line::add_choice(app, "--norm", options.norm, "the norm", nn::norms().names());
  command_line::add_placements(app, options.placements, "placements", nn::placements().names());
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers, "blocks");
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token; a multiple of the 4 heads");
  command_line::add_choice(app, "--optimizer", options.optimizer, "the optimizer",
                           optimizer_names());
  app.add_option("--lr", options.rate, "peak learning rate, constant after the warmup")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_whole_number(app, "--warmup", options.warmups, 0, kMost,
                                 "lengths of the warmup in steps; 0: none");
  command_line::add_whole_number(app, "--batch-size", options.batch_size, 1, kMost,
                                 "images per step");
  command_line::add_whole_number(app, "--steps", options.steps, 1, kMost,
                                 "updates before the last look");
  command_line::add_whole_number(app, "--every", options.every, 1, kMost,
                                 "steps from one look to the next");
  app.add_option("--seed", options.seed, "of weights and order")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_threads(app, line.threads);
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

int run(CommandLine line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs);
  ProgressBar bar(!line.quiet);
  const GradientFlowResult result = run_gradient_flow(
      line.options, line.threads, [&bar](double done, double total) { bar.show(done, total); });
  bar.wipe();
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  return 0;
}

}  // namespace

int gradient_flow_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app(
      "Gradients, updates and stream, layer by layer, while a transformer trains on\ndigits with "
      "and without a warmup",
      kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
