#pragma once

#include <limits>

#include "nn/module.hpp"

namespace normlab {

// Root mean square normalization, y = weight * x / sqrt(mean(x^2) + eps) with the mean over the
// trailing axes `normalized_shape` (Zhang and Sennrich 2019; core/ops/rms_norm.hpp), as
// torch.nn.RMSNorm: x (..., normalized_shape) -> the same shape.
//
// The default eps is the machine epsilon of double, not LayerNorm's 1e-5. On rows of mean zero the
// two layers agree only if they have the same eps.
class RMSNorm : public Layer {
 public:
  struct Options {
    double eps = std::numeric_limits<double>::epsilon();  // at least 0
    bool elementwise_affine = true;
  };
  // Throws std::invalid_argument unless normalized_shape has an element and eps >= 0.
  RMSNorm(Shape normalized_shape, const Options& options);
  explicit RMSNorm(Shape normalized_shape) : RMSNorm(std::move(normalized_shape), Options{}) {}
  explicit RMSNorm(std::int64_t width) : RMSNorm(Shape{width}) {}
  RMSNorm(std::int64_t width, const Options& options) : RMSNorm(Shape{width}, options) {}

  // Throws std::invalid_argument unless x ends in normalized_shape.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // normalized_shape, starts at one

 private:
  Shape normalized_shape_;
  Options options_;
};

}  // namespace normlab
