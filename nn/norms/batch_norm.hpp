#pragma once

#include <optional>

#include "nn/module.hpp"

namespace normlab {

// Batch normalization (Ioffe and Szegedy 2015), as torch.nn.BatchNorm1d/2d/3d: each channel of x
// (N, C) or (N, C, ...) is normalized over the batch and all positions; the result has x's shape.
//
// In train mode the layer uses the batch's own mean and biased variance, so a sample's output
// depends on the others. The running statistics move towards them by `momentum`; the variance that
// is stored is the unbiased one. In evaluation mode it uses the running statistics, if they are
// tracked, and otherwise the batch's.
//
// Edge cases, as in PyTorch:
//   - An empty batch in train mode adds 1 to num_batches_tracked and leaves the statistics alone.
//   - In evaluation with eps = 0, a running variance of 0 divides by zero: the result is infinite,
//     or NaN where x is the running mean.
//   - Deviations above about 1e154 have infinite squares. The running variance is then infinite for
//     good, and evaluation returns the bias.
class BatchNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;
    // Share of the newest batch in the running statistics. Not set: their plain average over all
    // batches.
    std::optional<double> momentum = 0.1;
    bool affine = true;
    bool track_running_stats = true;
  };
  // Throws std::invalid_argument unless num_features > 0, eps >= 0 and momentum is in [0, 1].
  BatchNorm(std::int64_t num_features, const Options& options);
  explicit BatchNorm(std::int64_t num_features) : BatchNorm(num_features, Options{}) {}

  // Throws std::invalid_argument unless x is (N, C) or (N, C, ...), and in train mode for a single
  // value per channel.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // (C), starts at one
  Parameter* bias = nullptr;    // (C), starts at zero

  // Buffers: without gradient, changed by forward in train mode.
  Tensor running_mean;                               // (C), starts at zero
  Tensor running_var;                                // (C), starts at one
  Tensor num_batches_tracked = Tensor::scalar(0.0);  // ()

 private:
  void track(const Tensor& x);

  std::int64_t num_features_;
  Options options_;
};

}  // namespace normlab
