#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// What happens in the layers of a transformer while it trains, with and without a warmup:
// gradients, updates and stream in the first some hundred steps. Xiong et al. (2020, Figure 3) show
// gradients before and after the warmup; here they are followed from step to step.
struct GradientFlowOptions {
  std::string norm = "layernorm";
  std::vector<Placement> placements{Placement::post, Placement::pre};
  std::int64_t layers = 12, width = 32, batch_size = 16;
  std::string optimizer = "adam";
  double rate = 2e-3;                         // the peak, constant after the warmup
  std::vector<std::int64_t> warmups{0, 100};  // steps
  std::int64_t steps = 500, every = 20;       // a look at 0, `every`, ... and `steps`
  std::uint64_t seed = 0;
};

// One number per block, from the first to the last.
struct FlowRecord {
  std::int64_t step = 0;               // how many updates were made before
  double rate = 0.0, loss = 0.0;       // of the step that follows
  std::vector<double> w2_grad_norm{};  // Frobenius norm of dLoss/dW2, of the batch
  // ||change of W2 by the update|| / ||W2||: around 1e-3 is usual, 1 replaces the matrix.
  std::vector<double> w2_update_ratio{};
  std::vector<double> stream{};  // mean |x|^2 / d of what enters the block, over fixed images
};

struct Flow {
  Placement placement;
  std::int64_t warmup;
  std::vector<FlowRecord> records{};
  std::optional<Divergence> diverged{};  // it ends there
};

struct GradientFlowResult {
  GradientFlowOptions options;
  std::vector<Flow> flows;  // by placement, then warmup
};

// Throws std::invalid_argument before anything is computed.
void check_options(const GradientFlowOptions& options);

// The result does not depend on `threads`.
GradientFlowResult run_gradient_flow(const GradientFlowOptions& options, int threads,
                                     const JobProgress& progress = {});

std::string text_of(const GradientFlowResult& result);
std::string json_of(const GradientFlowResult& result);

// The program: 0; 2 for bad usage.
int gradient_flow_main(int argc, const char* const* argv);

}  // namespace normlab
