#pragma once

#include <limits>

#include "nn/module.hpp"

namespace normlab {

// Root mean square normalization, y = weight * x / sqrt(mean(x^2) + eps) over the trailing axes
// `normalized_shape` (core/ops/rms_norm.hpp), as torch.nn.RMSNorm. weight starts at one.
//
// Mind the default eps: the machine epsilon of double, not LayerNorm's 1e-5. The two layers agree
// on rows of mean zero only if they are given the same eps.
class RMSNorm : public Layer {
 public:
  struct Options {
    double eps = std::numeric_limits<double>::epsilon();  // at least 0
    bool elementwise_affine = true;
  };
  RMSNorm(Shape normalized_shape, const Options& options);
  explicit RMSNorm(Shape normalized_shape) : RMSNorm(std::move(normalized_shape), Options{}) {}
  explicit RMSNorm(std::int64_t width) : RMSNorm(Shape{width}) {}
  RMSNorm(std::int64_t width, const Options& options) : RMSNorm(Shape{width}, options) {}

  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // normalized_shape

 private:
  Shape normalized_shape_;
  Options options_;
};

}  // namespace normlab
