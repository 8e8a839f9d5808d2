#pragma once

#include "nn/module.hpp"

namespace normlab {

// Instance normalization (Ulyanov et al. 2016), as torch.nn.InstanceNorm1d/2d/3d without running
// statistics: each channel of each sample of x (N, C, L, ...) is normalized over its positions; the
// result has the shape of x. As in PyTorch, there are no parameters by default.
class InstanceNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;
    bool affine = false;
  };
  // Throws std::invalid_argument unless num_features > 0 and eps >= 0.
  InstanceNorm(std::int64_t num_features, const Options& options);
  explicit InstanceNorm(std::int64_t num_features) : InstanceNorm(num_features, Options{}) {}

  // Throws std::invalid_argument unless x is (N, C, L, ...) with at least two positions: a single
  // one would become 0.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // (C), starts at one
  Parameter* bias = nullptr;    // (C), starts at zero

 private:
  std::int64_t num_features_;
  double eps_;
};

}  // namespace normlab
