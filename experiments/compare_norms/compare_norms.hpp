#pragma once

#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/lab/stats/line_fit.hpp"
#include "experiments/untrained/gradients.hpp"

namespace normlab::compare_norms {

// Every registered norm in every placement, in the setting of init_gradients: what each pair makes
// of the gradients and of the residual stream at initialization.
struct Options {
  std::int64_t width = 64, heads = 4, ffn = 256;
  std::int64_t images = 32;
  std::vector<std::string> norms;  // names in nn::norms()
  std::vector<Placement> placements;
  std::vector<std::int64_t> layers{3, 6, 12};
  std::vector<std::uint64_t> seeds{0, 1, 2};

  std::int64_t deepest() const;
};
Options everything_registered();

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// One network and what was measured of it.
struct Point {
  std::string norm;
  Configuration configuration;
  GradientMeasurement measured{};
};

// All points in the order of the tables: by placement, norm, depth, seed. rezero has no norm and is
// there once, with the first norm of the options.
std::vector<Point> points_of(const Options& options);

struct Measured {
  Options options;
  std::vector<Point> points;
};
Measured measure(const Options& options, const lab::Run& run);

// The numbers of one norm in one placement. Gradients are Frobenius norms of dLoss/dW2. Where none
// arrives, behind the closed gates of adaln-zero and rezero, they are 0, and quotients and
// logarithms of them are NaN.
struct Summary {
  std::string norm;
  Placement placement;
  Spread first, last, ratio;  // first and last block of the deepest stack; last / first
  LineFit depth;              // log last against log L, all depths and seeds
  // |x|^2 / d that a block adds to the residual stream, and the exponent of its growth with the
  // block's number; deepest stack, medians over seeds.
  double stream_per_block, stream_exponent;
  Spread loss;  // deepest stack
};
std::vector<Summary> summaries(const Measured& measured);  // placement by placement

lab::Results results(const Measured& measured);

// The program.
int main(int argc, const char* const* argv);

}  // namespace normlab::compare_norms
