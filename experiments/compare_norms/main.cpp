// The command line of compare_norms.
#include <memory>

#include <fmt/format.h>

#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/compare_norms/report.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/lab/runs/cell_log.hpp"
#include "experiments/untrained/gradient_json.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "compare_norms";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096;

struct CommandLine {
  CompareNormsOptions options = compare_all_norms();
  std::string resume, command;
  Outputs outputs;
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define(CLI::App& app, CommandLine& line) {
  CompareNormsOptions& options = line.options;
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input.");
  command_line::add_choices(app, "--norm", options.norms, "norms", nn::norms().names())
      ->default_str("all");
  command_line::add_placements(app, options.placements, "placements", nn::placements().names())
      ->default_str("all");
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers, "depths");
  app.add_option("--seeds", options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token");
  command_line::add_whole_number(app, "--heads", options.heads, 1, kMostWidth,
                                 "attention heads; they divide the width");
  command_line::add_whole_number(app, "--ffn", options.ffn, 1, kMostWidth,
                                 "width of the feed-forward network");
  command_line::add_whole_number(app, "--images", options.images, 2, load_digits().size(),
                                 "how many of the digits, from the first");
  command_line::add_threads(app, line.threads);
  app.add_option("--resume", line.resume,
                 "note finished cells in this file, and do not\ncompute those again that it has")
      ->check(command_line::a_path());
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no table and no progress bar");
}

nlohmann::ordered_json key_of(const ComparedCell& each) {
  return {{"norm", each.norm},
          {"placement", name(each.cell.placement)},
          {"layers", each.cell.layers},
          {"seed", each.cell.seed}};
}

std::unique_ptr<CellLog> open_log(const CommandLine& line, std::vector<ComparedCell>& cells) {
  if (line.resume.empty()) return nullptr;
  const CompareNormsOptions& options = line.options;
  auto log = std::make_unique<CellLog>(line.resume, CellLog::Json{{"experiment", kProgram},
                                                                  {"version", NORMLAB_VERSION},
                                                                  {"width", options.width},
                                                                  {"heads", options.heads},
                                                                  {"ffn", options.ffn},
                                                                  {"images", options.images}});
  for (ComparedCell& each : cells) {
    const CellLog::Json* measured = log->find(key_of(each));
    if (measured == nullptr) continue;
    each.measured = log->read([&] { return measurement_from(*measured, each.cell.layers); });
    each.known = true;
  }
  return log;
}

int run(CommandLine line) {
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs, {{"--resume", line.resume}});
  CompareNormsResult result{line.options, needed_cells(line.options)};
  const std::unique_ptr<CellLog> log = open_log(line, result.cells);
  {
    ProgressBar bar(!line.quiet);
    measure_cells(
        line.options, load_digits(), line.threads, result.cells,
        [&](const ComparedCell& each) {
          if (log != nullptr) log->append(key_of(each), json_of(each.measured));
        },
        [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  if (result.all_finite()) return 0;
  fmt::print(stderr, "{}: some numbers are not finite: see the table\n", kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int compare_norms_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command =
      command_text(kProgram, argc, argv, {"--json", "--resume", "--report", "--figures"});
  CLI::App app(
      "Every norm in every placement: gradients and stream of untrained transformers\non digits",
      kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
