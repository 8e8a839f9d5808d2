#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab::gradient_flow {

// What happens in the layers of a transformer while it trains, with and without a warmup:
// gradients, updates and residual stream in the first few hundred steps. Xiong et al. (2020,
// Figure 3) show gradients before and after the warmup; here they are followed from step to step.
struct Options {
  std::string norm = "layernorm";
  std::vector<Placement> placements{Placement::post, Placement::pre};
  std::int64_t layers = 12, width = 32, batch_size = 16;
  std::string optimizer = "adam";
  double lr = 2e-3;                           // the peak, constant after the warmup
  std::vector<std::int64_t> warmups{0, 100};  // steps
  std::int64_t steps = 500, every = 20;       // a snapshot at 0, `every`, ... and `steps`
  std::uint64_t seed = 0;
};

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// One number per block, from the first to the last.
struct Snapshot {
  std::int64_t step = 0;               // how many updates were made before
  double rate = 0.0, loss = 0.0;       // of the step that follows
  std::vector<double> w2_grad_norm{};  // Frobenius norm of dLoss/dW2, of the batch
  // ||change of W2 by the update|| / ||W2||: around 1e-3 is usual, 1 replaces the matrix.
  std::vector<double> w2_update_ratio{};
  std::vector<double> stream{};  // mean |x|^2 / d of what enters the block, over fixed images
};

struct Run {
  Placement placement;
  std::int64_t warmup;
  std::vector<Snapshot> snapshots{};
  std::optional<Divergence> diverged{};  // it ends there
};

struct Measured {
  Options options;
  std::vector<Run> runs;  // by placement, then warmup
};
Measured measure(const Options& options, const lab::Run& run);

lab::Results results(const Measured& measured);

// The program: 0; 2 for bad usage.
int main(int argc, const char* const* argv);

}  // namespace normlab::gradient_flow
