#pragma once

#include "nn/module.hpp"

namespace normlab {

// Group normalization (Wu and He 2018), as torch.nn.GroupNorm: x (N, C, ...) is normalized over the
// channels of each of num_groups groups and all positions, separately for every sample; the result
// has the shape of x. Weight and bias are per channel. One group is layer normalization over
// (C, ...), C groups is instance normalization.
class GroupNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;
    bool affine = true;
  };
  // Throws std::invalid_argument unless num_groups divides num_channels, both are positive, and
  // eps >= 0.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const Options& options);
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNorm(num_groups, num_channels, Options{}) {}

  // Throws std::invalid_argument unless x is (N, C) or (N, C, ...).
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // (C), starts at one
  Parameter* bias = nullptr;    // (C), starts at zero

 private:
  std::int64_t num_groups_, num_channels_;
  double eps_;
};

}  // namespace normlab
