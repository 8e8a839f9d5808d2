#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/untrained/gradient_cell.hpp"
#include "experiments/untrained/self_checks.hpp"

namespace normlab {

// A scale of the embedded input, under the name it is printed with.
struct InputScale {
  std::string name;
  double value;
};

// Gradients at initialization, post-norm against pre-norm (Xiong et al. 2020, section 3). The
// defaults are the published run.
struct InitGradientsOptions {
  EncoderModel::Config model{};
  std::int64_t images = 256;
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4};
  std::vector<std::int64_t> layers{6, 12, 24};  // of the depth table
  std::int64_t profile_layers = 12;             // of the table over layers
  std::vector<InputScale> scales{{"unit", 1.0}, {"1/sqrt(d)", 0.125}};
  std::vector<Placement> placements{Placement::post, Placement::pre};
};

struct MeasuredCell {
  GradientCell cell;
  GradientMeasurement measured;
};

struct InitGradientsResult {
  InitGradientsOptions options;
  Tokens tokens;
  std::vector<FiniteDifferenceCheck> finite_differences;  // C1
  NormAgreement norm_agreement;                           // C2
  std::vector<MeasuredCell> cells;

  bool checks_passed() const;  // C1 and C2
  bool all_finite() const;     // every loss, gradient norm and stream size
  // Throws std::invalid_argument if it was not measured.
  const GradientMeasurement& measurement(const GradientCell& cell) const;
};

// Above these a request is taken for a slip: its weights and gradients alone would need more than
// 16 GiB, or its run days.
inline constexpr std::int64_t kMostLayers = 10'000, kMostWidth = 65'536;
inline constexpr std::int64_t kMostWeights = std::int64_t{1} << 30;  // of the deepest network

// Throws std::invalid_argument for options that do not fit together, before anything is computed.
void check_options(const InitGradientsOptions& options);

// The cells that the tables need, in their order; one that both tables show stands there once.
std::vector<MeasuredCell> needed_cells(const InitGradientsOptions& options);

// The places of cells that can be measured together: those that differ in depth only, unless the
// placement depends on the depth.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<MeasuredCell>& cells);

// Every cell that a table needs, computed once, in parallel. The result does not depend on
// `threads`.
InitGradientsResult run_init_gradients(const InitGradientsOptions& options, const Digits& digits,
                                       int threads, const JobProgress& progress = {});

// The tables as they are printed; the whole run as JSON. Numbers in JSON are written with as many
// digits as it takes to read the same double back (at most 17); those that are not finite as the
// strings "inf", "-inf" and "nan".
std::string text_of(const InitGradientsResult& result);
std::string json_of(const InitGradientsResult& result);

// The program: parses arguments, runs, prints. Returns the exit code: 0; 1 when a self-check
// failed; 2 for bad usage or bad input.
int init_gradients_main(int argc, const char* const* argv);

}  // namespace normlab
