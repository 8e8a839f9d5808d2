#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/stats/line_fit.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "experiments/untrained/gradient_cell.hpp"

namespace normlab {

// Every registered norm in every placement, in the setting of init_gradients: what each pair makes
// of the gradients and of the stream at initialization.
struct CompareNormsOptions {
  std::int64_t width = 64, heads = 4, ffn = 256;
  std::int64_t images = 32;
  std::vector<std::string> norms;  // names in nn::norms()
  std::vector<Placement> placements;
  std::vector<std::int64_t> layers{3, 6, 12};
  std::vector<std::uint64_t> seeds{0, 1, 2};
};
// Everything that is registered.
CompareNormsOptions compare_all_norms();

struct ComparedCell {
  std::string norm;
  GradientCell cell;
  bool known = false;  // measured, or taken from a file
  GradientMeasurement measured{};
};

// The numbers of one norm in one placement. Gradients are Frobenius norms of dLoss/dW2. Where none
// arrives, behind the closed gates of adaln-zero and rezero, they are 0, and what is made of their
// quotients and logarithms is NaN.
struct ComparedNorm {
  std::string norm;
  Placement placement;
  Spread first, last, ratio;  // first and last block of the deepest stack; last / first
  LineFit depth;              // log last against log L, all depths and seeds
  // |x|^2 / d that a block adds to the stream, and the exponent of its growth with the block's
  // number; deepest stack, medians over seeds.
  double stream_per_block, stream_exponent;
  Spread loss;  // deepest stack
};

struct CompareNormsResult {
  CompareNormsOptions options;
  std::vector<ComparedCell> cells;

  // A row for each placement and norm, placement by placement.
  std::vector<ComparedNorm> summary() const;
  bool all_finite() const;
};

// Throws std::invalid_argument before anything is computed.
void check_options(const CompareNormsOptions& options);

// All cells, none known yet: by placement, norm, depth, seed. rezero has no norm and is there once,
// with the first norm of the options.
std::vector<ComparedCell> needed_cells(const CompareNormsOptions& options);

// Measures the cells that are not known, in parallel, and calls `finished` after each, one call at
// a time. The result does not depend on `threads`.
void measure_cells(const CompareNormsOptions& options, const Digits& digits, int threads,
                   std::vector<ComparedCell>& cells,
                   const std::function<void(const ComparedCell&)>& finished = {},
                   const JobProgress& progress = {});

std::string text_of(const CompareNormsResult& result);
std::string json_of(const CompareNormsResult& result);

// The program: 0; 1 if a number is not finite; 2 for bad usage or bad input.
int compare_norms_main(int argc, const char* const* argv);

}  // namespace normlab
