#pragma once

#include <optional>

#include "nn/module.hpp"

namespace normlab {

// Batch normalization (Ioffe and Szegedy 2015), as torch.nn.BatchNorm1d/2d/3d: each channel of x
// (N, C) or (N, C, ...) is normalized over the batch and all positions.
//
// In train mode with the batch's own mean and biased variance, so that a sample's output depends on
// the others; the running statistics move towards them by `momentum` (the variance that is stored
// is the unbiased one). In evaluation with the running statistics, if they are tracked.
class BatchNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;
    // Share of the newest batch in the running statistics; none: their plain average over batches.
    std::optional<double> momentum = 0.1;
    bool affine = true;
    bool track_running_stats = true;
  };
  BatchNorm(std::int64_t num_features, const Options& options);
  explicit BatchNorm(std::int64_t num_features) : BatchNorm(num_features, Options{}) {}

  // Throws std::invalid_argument in train mode for a single value per channel.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // (C), starts at one
  Parameter* bias = nullptr;    // (C), starts at zero

  // Not parameters: no gradient, moved by forward in train mode.
  Tensor running_mean;  // (C), starts at zero
  Tensor running_var;   // (C), starts at one
  Tensor num_batches_tracked = Tensor::scalar(0.0);

 private:
  void track(const Tensor& x);

  std::int64_t num_features_;
  Options options_;
};

}  // namespace normlab
