#pragma once

#include "nn/module.hpp"

namespace normlab {

// ScaleNorm (Nguyen and Salazar 2019): y = g * x / sqrt(|x|^2 + eps) gives every token the same
// length g, one learned number: x (..., width) -> (..., width). g starts at sqrt(width), where
// ScaleNorm is RMSNorm with eps / width.
class ScaleNorm : public Layer {
 public:
  // Throws std::invalid_argument unless width > 0 and eps >= 0.
  explicit ScaleNorm(std::int64_t width, double eps = 1e-5);

  // Throws std::invalid_argument unless the last axis of x is the width.
  Var forward(const Var& x) override;

  Parameter& g;  // ()

 private:
  std::int64_t width_;
  double eps_;
};

}  // namespace normlab
