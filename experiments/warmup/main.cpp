// The command line of warmup.
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/lab/runs/grid_log.hpp"
#include "experiments/warmup/report.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "warmup";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 1'000'000;

struct CommandLine {
  WarmupOptions options;
  std::string resume, command;
  Outputs outputs;
  int threads = command_line::default_threads();
  bool quiet = false;
};

void add_rates(CLI::App& app, const std::string& option, std::vector<double>& rates,
               const std::string& description) {
  app.add_option(option, rates, description)
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
}

void define(CLI::App& app, CommandLine& line) {
  WarmupOptions& options = line.options;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 2 for bad usage or bad input. Runs that fail are results.");
  command_line::add_choices(app, "--task", options.tasks, "what is learned", warmup_task_names());
  command_line::add_placements(app, options.placements, "placements", nn::placements().names());
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers, "depths");
  command_line::add_choices(app, "--optimizer", options.optimizers, "optimizers",
                            optimizer_names());
  command_line::add_whole_number(app, "--warmup", options.warmups, 0, kMost,
                                 "lengths of the warmup in steps; 0: none");
  add_rates(app, "--lr", options.rates, "peak learning rates");
  add_rates(app, "--sgd-lr", options.sgd_rates, "those of sgd");
  app.add_option("--seeds", options.seeds, "seeds")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_whole_number(app, "--epochs", options.epochs, 1, kMost, "epochs of each run");
  command_line::add_whole_number(app, "--batch-size", options.batch_size, 1, kMost,
                                 "examples per step");
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token; a multiple of the 4 heads");
  command_line::add_threads(app, line.threads);
  app.add_option("--resume", line.resume,
                 "note finished runs in this file, and do not\ntrain those again that it has")
      ->check(command_line::a_path());
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

std::optional<GridLog> open_log(const CommandLine& line, std::vector<WarmupRun>& runs) {
  if (line.resume.empty()) return std::nullopt;
  const WarmupOptions& options = line.options;
  std::optional<GridLog> log;
  log.emplace(line.resume, GridLog::Json{{"experiment", kProgram},
                                         {"version", NORMLAB_VERSION},
                                         {"epochs", options.epochs},
                                         {"batch_size", options.batch_size},
                                         {"width", options.width}});
  for (WarmupRun& each : runs) {
    log->read(key_of(each.cell), [&](const GridLog::Json& trained) { read_run(trained, each); });
  }
  return log;
}

int run(CommandLine line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs, {{"--resume", line.resume}});
  WarmupResult result{line.options, needed_runs(line.options)};
  std::optional<GridLog> log = open_log(line, result.runs);
  {
    ProgressBar bar(!line.quiet);
    train_runs(
        line.options, line.threads, result.runs,
        [&](const WarmupRun& each) {
          if (log) log->append(key_of(each.cell), json_of(each));
        },
        [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_lines_of(result); },
      [&] { return report_of(result, line.command); });
  return 0;
}

}  // namespace

int warmup_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command =
      command_text(kProgram, argc, argv, {"--json", "--resume", "--report", "--figures"});
  CLI::App app("Which transformers need a learning-rate warmup: a grid of training runs", kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
