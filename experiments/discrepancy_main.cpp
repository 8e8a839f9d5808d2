// The command line of discrepancy.
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/cell_journal.hpp"
#include "experiments/command_line.hpp"
#include "experiments/discrepancy_report.hpp"
#include "experiments/progress_bar.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "discrepancy";
constexpr std::int64_t kMostLayers = 1000;

struct CommandLine {
  DiscrepancyOptions options;
  std::vector<std::string> rungs;
  std::string json, report, figures, command;
  int threads = command_line::default_threads();
  bool resume = false, quiet = false;
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
  app.add_option("--layers", line.options.layers, "depths, at least two")
      ->transform(command_line::whole_number(1, kMostLayers))
      ->capture_default_str();
  app.add_option("--seeds", line.options.seeds, "seeds of the weights")
      ->transform(command_line::seed())
      ->capture_default_str();
  app.add_option("--large-seeds", line.options.large_seeds,
                 "how many of them for width 256 and more")
      ->transform(command_line::whole_number(1, std::numeric_limits<std::int32_t>::max()))
      ->capture_default_str();
  app.add_option("--threads", line.threads, "the output does not depend on it")
      ->transform(command_line::whole_number(1, command_line::kMostThreads))
      ->capture_default_str();
  app.add_option("--json", line.json, "write every cell to this file, as soon as it is\nfinished")
      ->check(command_line::a_path());
  app.add_flag("--resume", line.resume, "take up the cells that are in the --json file");
  app.add_option("--report", line.report,
                 "also write figures and tables to this HTML page\n(figures need gnuplot)")
      ->check(command_line::a_path());
  app.add_option("--figures", line.figures, "also write the figures to this folder, as SVG")
      ->check(command_line::a_path());
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
  check(!line.resume || !line.json.empty(), kProgram, "--resume", "must come with --json",
        "no file");
  check(line.report.empty() || line.report != line.json, kProgram, "--report",
        "must name another file than --json", line.report);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  if (!line.json.empty()) check_writable(line.json);
  if (!line.report.empty()) check_writable(line.report);
  if (!line.figures.empty()) check_figures_folder(line.figures);
}

DiscrepancyResult computed(const CommandLine& line) {
  std::optional<CellJournal> journal;
  std::vector<DiscrepancyResult::Cell> known;
  if (!line.json.empty()) {
    journal.emplace(line.json, header_line(line.options), line.resume);
    for (const std::string& each : journal->found()) known.push_back(parse_cell(each, line.json));
  }
  DiscrepancyResult result;
  {
    ProgressBar bar(!line.quiet);
    result = run_discrepancy(
        line.options, line.threads, known,
        [&](const DiscrepancyResult::Cell& cell) {
          if (journal) journal->append(line_of(cell));
        },
        [&bar](double done, double total) { bar.show(done, total); });
  }
  if (journal) {
    std::vector<std::string> lines;
    for (const DiscrepancyResult::Cell& cell : result.cells) lines.push_back(line_of(cell));
    journal->finish(lines);
  }
  return result;
}

int run(CommandLine line) {
  complete(line);
  const DiscrepancyResult result = computed(line);
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  if (!line.report.empty()) write_atomically(line.report, html_of(report_of(result, line.command)));
  if (!line.figures.empty()) write_figures(figures_of(result), line.figures);
  if (result.all_finite()) return 0;
  fmt::print(stderr, "{}: some gradient norms are not finite\n", kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int discrepancy_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app(
      "Why gradients of untrained transformers on digits differ from those that\nXiong et al. "
      "(2020) measured: one change of the setting at a time",
      kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
