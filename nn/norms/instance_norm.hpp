#pragma once

#include "nn/module.hpp"

namespace normlab {

// Instance normalization (Ulyanov et al. 2016), as torch.nn.InstanceNorm1d/2d/3d without running
// statistics: each channel of each sample of x (N, C, L, ...) is normalized over its positions.
// Like PyTorch's, it has no parameters unless asked for.
class InstanceNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;
    bool affine = false;
  };
  InstanceNorm(std::int64_t num_features, const Options& options);
  explicit InstanceNorm(std::int64_t num_features) : InstanceNorm(num_features, Options{}) {}

  // Throws std::invalid_argument for fewer than two positions: one would be mapped to 0.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // (C), starts at one
  Parameter* bias = nullptr;    // (C), starts at zero

 private:
  std::int64_t num_features_;
  double eps_;
};

}  // namespace normlab
