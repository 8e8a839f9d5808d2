// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/discrepancy.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"

namespace normlab {

namespace {

constexpr const char* kName = "discrepancy";

// The parts of one cell: the last one to be computed joins them.
struct PendingCell {
  const Rung* rung;
  DiscrepancyResult::Cell* cell;
  std::vector<PartialMeasurement> parts;
  std::size_t missing;
};

class Run {
 public:
  Run(DiscrepancyResult& result, const CellFinished& finished)
      : result_(result), finished_(finished) {}

  void add_jobs(DiscrepancyResult::Cell& cell, std::vector<Job>& jobs) {
    const Rung& rung = result_.rung(cell.cell.rung);
    const int count = result_.options.parts_of(rung.setting, cell.cell.layers);
    const auto size = static_cast<std::size_t>(count);
    auto pending = std::make_shared<PendingCell>(
        PendingCell{&rung, &cell, std::vector<PartialMeasurement>(size), size});
    for (int part = 0; part < count; ++part) {
      jobs.push_back({cost_of_part(rung.setting, cell.cell, count),
                      [this, pending, part] { compute(*pending, part); }});
    }
  }

 private:
  void compute(PendingCell& pending, int part) {
    PartialMeasurement measured = measure_part(pending.rung->setting, pending.cell->cell, part,
                                               static_cast<int>(pending.parts.size()));
    const std::lock_guard lock(mutex_);
    pending.parts[static_cast<std::size_t>(part)] = std::move(measured);
    if (--pending.missing > 0) return;
    pending.cell->measured = join(pending.parts);
    pending.parts.clear();
    if (finished_) finished_(*pending.cell);
  }

  DiscrepancyResult& result_;
  const CellFinished& finished_;
  std::mutex mutex_;  // of pending cells, and so that `finished` is called one at a time
};

}  // namespace

std::int64_t DiscrepancyOptions::profile_layers() const {
  constexpr std::int64_t kUsual = 12;
  return std::find(layers.begin(), layers.end(), kUsual) != layers.end()
             ? kUsual
             : *std::max_element(layers.begin(), layers.end());
}

std::vector<std::uint64_t> DiscrepancyOptions::seeds_of(const Rung& rung) const {
  if (!is_large(rung.setting)) return seeds;
  const auto count = std::min(seeds.size(), static_cast<std::size_t>(large_seeds));
  return {seeds.begin(), seeds.begin() + static_cast<std::ptrdiff_t>(count)};
}

int DiscrepancyOptions::parts_of(const Setting& setting, std::int64_t depth) const {
  return setting.sequences > 1 && depth * setting.width * setting.width >= split_from ? 2 : 1;
}

const DiscrepancyMeasurement& DiscrepancyResult::measurement(const DiscrepancyCell& cell) const {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [&](const Cell& each) { return each.cell == cell; });
  check(found != cells.end(), kName, "cell", "must have been measured",
        [&] { return fmt::format("{}, {} layers, seed {}", cell.rung, cell.layers, cell.seed); });
  return found->measured;
}

const Rung& DiscrepancyResult::rung(const std::string& name) const {
  const auto found = std::find_if(options.rungs.begin(), options.rungs.end(),
                                  [&](const Rung& each) { return each.name == name; });
  check(found != options.rungs.end(), kName, "rung", "must be one of the run", name);
  return *found;
}

bool DiscrepancyResult::all_finite() const {
  return std::all_of(cells.begin(), cells.end(), [](const Cell& each) {
    const std::vector<double>& norms = each.measured.w2_grad_norm;
    return std::all_of(norms.begin(), norms.end(), [](double v) { return std::isfinite(v); });
  });
}

void check_options(const DiscrepancyOptions& options) {
  std::vector<std::string> names;
  for (const Rung& rung : options.rungs) names.push_back(rung.name);
  check_distinct(kName, "--rungs", names);
  check_distinct(kName, "--layers", options.layers);
  check(options.layers.size() >= 2, kName, "--layers", "must be two or more, for an exponent",
        [&] { return std::to_string(options.layers.front()); });
  check(*std::min_element(options.layers.begin(), options.layers.end()) >= 1, kName, "--layers",
        "must be at least 1", "0");
  check_seeds(kName, options.seeds);
  check(options.large_seeds >= 1, kName, "--large-seeds", "must be at least 1",
        [&] { return std::to_string(options.large_seeds); });
}

std::vector<DiscrepancyCell> needed_cells(const DiscrepancyOptions& options) {
  std::vector<DiscrepancyCell> cells;
  for (const Rung& rung : options.rungs) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      for (const std::int64_t layers : options.layers) {
        for (const std::uint64_t seed : options.seeds_of(rung)) {
          cells.push_back({rung.name, placement, layers, seed});
        }
      }
    }
  }
  return cells;
}

DiscrepancyResult run_discrepancy(const DiscrepancyOptions& options, int threads,
                                  const std::vector<DiscrepancyResult::Cell>& known,
                                  const CellFinished& finished, const JobProgress& progress) {
  check_options(options);
  DiscrepancyResult result{options, {}};
  for (const DiscrepancyCell& cell : needed_cells(options)) result.cells.push_back({cell, {}});
  Run run(result, finished);
  std::vector<Job> jobs;
  for (DiscrepancyResult::Cell& each : result.cells) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& other) { return other.cell == each.cell; });
    if (found != known.end()) {
      each.measured = found->measured;
    } else {
      run.add_jobs(each, jobs);
    }
  }
  run_jobs(jobs, threads, progress);
  return result;
}

}  // namespace normlab
