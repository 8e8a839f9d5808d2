// The command line of discrepancy.
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "experiments/discrepancy/report.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/lab/runs/cell_log.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "discrepancy";
constexpr std::int64_t kMostLayers = 1000;

struct CommandLine {
  DiscrepancyOptions options;
  std::vector<std::string> rungs;
  std::string resume, command;
  Outputs outputs;
  int threads = command_line::default_threads();
  bool quiet = false;
};

std::vector<std::string> rung_names() {
  std::vector<std::string> names;
  for (const Rung& rung : ladder()) names.push_back(rung.name);
  return names;
}

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input.");
  std::string rungs = "which settings, of:";
  for (const std::string& name : rung_names()) rungs += "\n" + name;
  app.add_option("--rungs", line.rungs, rungs + "\n[all]")
      ->check(command_line::one_of(rung_names()));
  command_line::add_whole_number(app, "--layers", line.options.layers, 1, kMostLayers,
                                 "depths, at least two");
  app.add_option("--seeds", line.options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  command_line::add_whole_number(app, "--large-seeds", line.options.large_seeds, 1,
                                 std::numeric_limits<std::int32_t>::max(),
                                 "how many of them for width 256 and more");
  command_line::add_threads(app, line.threads);
  app.add_option("--resume", line.resume,
                 "note finished cells in this file, and do not\ncompute those again that it has")
      ->check(command_line::a_path());
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

// Everything that can be refused without computing is refused here.
void complete(CommandLine& line) {
  if (!line.rungs.empty()) {
    std::vector<Rung> chosen;
    const std::vector<Rung> all = ladder();
    for (const std::string& name : line.rungs) {
      chosen.push_back(*std::find_if(all.begin(), all.end(),
                                     [&](const Rung& rung) { return rung.name == name; }));
    }
    line.options.rungs = chosen;
  }
  check_options(line.options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs, {{"--resume", line.resume}});
}

// The setting is a part of the key: a cell that a ladder with another setting under this name left
// in a log is not this one.
CellLog::Json log_key(const CommandLine& line, const DiscrepancyCell& cell) {
  CellLog::Json key = key_of(cell);
  for (const Rung& rung : line.options.rungs) {
    if (rung.name == cell.rung) key["setting"] = json_of(rung.setting);
  }
  return key;
}

DiscrepancyResult computed(const CommandLine& line) {
  std::optional<CellLog> log;
  std::vector<DiscrepancyResult::Cell> known;
  if (!line.resume.empty()) {
    log.emplace(line.resume, CellLog::Json{{"experiment", kProgram}, {"version", NORMLAB_VERSION}});
    for (const DiscrepancyCell& cell : needed_cells(line.options)) {
      const CellLog::Json* measured = log->find(log_key(line, cell));
      if (measured == nullptr) continue;
      known.push_back({cell, log->read([&] { return discrepancy_from(*measured, cell.layers); })});
    }
  }
  ProgressBar bar(!line.quiet);
  return run_discrepancy(
      line.options, line.threads, known,
      [&](const DiscrepancyResult::Cell& each) {
        if (log) log->append(log_key(line, each.cell), json_of(each.measured));
      },
      [&bar](double done, double total) { bar.show(done, total); });
}

int run(CommandLine line) {
  complete(line);
  const DiscrepancyResult result = computed(line);
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  if (result.all_finite()) return 0;
  fmt::print(stderr, "{}: some gradient norms are not finite\n", kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int discrepancy_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command =
      command_text(kProgram, argc, argv, {"--json", "--resume", "--report", "--figures"});
  CLI::App app(
      "Why gradients of untrained transformers on digits differ from those that\nXiong et al. "
      "(2020) measured: one change of the setting at a time",
      kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
