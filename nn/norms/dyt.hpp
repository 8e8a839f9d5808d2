#pragma once

#include "nn/module.hpp"

namespace normlab {

// Dynamic tanh (Zhu et al. 2025): y = weight * tanh(alpha x) + bias, x (..., width) -> (...,
// width). It has no statistics: like a norm it bounds large values, but element by element.
class DyT : public Layer {
 public:
  // Throws std::invalid_argument unless width > 0 and alpha is finite.
  explicit DyT(std::int64_t width, double alpha = 0.5);

  // Throws std::invalid_argument unless the last axis of x is the width.
  Var forward(const Var& x) override;

  Parameter& alpha;   // (1), one learned number
  Parameter& weight;  // (width), starts at one
  Parameter& bias;    // (width), starts at zero

 private:
  std::int64_t width_;
};

}  // namespace normlab
