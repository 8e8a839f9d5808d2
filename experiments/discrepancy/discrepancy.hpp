#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/discrepancy/cell.hpp"
#include "experiments/lab/runs/jobs.hpp"

namespace normlab {

// What separates the source article's measurement from that of Xiong et al. (2020): the same
// quantities on a ladder of settings that differ in one thing at a time. The defaults are the
// published run.
struct DiscrepancyOptions {
  std::vector<Rung> rungs = ladder();
  std::vector<std::int64_t> layers{6, 12, 24};  // at least two, for an exponent
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::int64_t large_seeds = 3;  // large rungs get only the first so many of the seeds
  // Cells with at least this layers * width^2 (24 layers of width 512 have 6.3 million) are
  // computed in two parts, by two threads if there are as many.
  std::int64_t split_from = 5'000'000;

  // 12 if among the layers, else the deepest: where profiles are compared.
  std::int64_t profile_layers() const;
  std::vector<std::uint64_t> seeds_of(const Rung& rung) const;
  int parts_of(const Setting& setting, std::int64_t depth) const;
};

struct DiscrepancyResult {
  struct Cell {
    DiscrepancyCell cell;
    DiscrepancyMeasurement measured;
  };
  DiscrepancyOptions options;
  std::vector<Cell> cells;  // rung by rung, in the order of the options

  // Throws std::invalid_argument if it was not measured.
  const DiscrepancyMeasurement& measurement(const DiscrepancyCell& cell) const;
  const Rung& rung(const std::string& name) const;
  bool all_finite() const;  // every gradient norm
};

// Throws std::invalid_argument for options that do not fit together, before anything is computed.
void check_options(const DiscrepancyOptions& options);

std::vector<DiscrepancyCell> needed_cells(const DiscrepancyOptions& options);

// Computes the cells that `known` does not hold, in parallel; calls `finished` for each as soon as
// it is done, one call at a time. The result does not depend on `threads`, nor on what was known.
using CellFinished = std::function<void(const DiscrepancyResult::Cell&)>;
DiscrepancyResult run_discrepancy(const DiscrepancyOptions& options, int threads,
                                  const std::vector<DiscrepancyResult::Cell>& known = {},
                                  const CellFinished& finished = {},
                                  const JobProgress& progress = {});

// A cell and what was measured of it, for JSON and for a log of finished cells. Read back it is the
// same, bit for bit; discrepancy_from throws std::runtime_error for anything else.
nlohmann::ordered_json key_of(const DiscrepancyCell& cell);
nlohmann::ordered_json json_of(const Setting& setting);
nlohmann::ordered_json json_of(const DiscrepancyMeasurement& measurement);
DiscrepancyMeasurement discrepancy_from(const nlohmann::ordered_json& json, std::int64_t layers);

std::string json_of(const DiscrepancyResult& result);
std::string text_of(const DiscrepancyResult& result);

// The program: 0; 1 when a number is not finite; 2 for bad usage.
int discrepancy_main(int argc, const char* const* argv);

}  // namespace normlab
