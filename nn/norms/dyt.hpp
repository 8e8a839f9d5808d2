#pragma once

#include "nn/module.hpp"

namespace normlab {

// Dynamic tanh (Zhu et al. 2025): y = weight * tanh(alpha x) + bias. No statistics at all: it
// bounds large values as a normalization does, element by element. alpha, one learned number,
// starts at 0.5.
class DyT : public Layer {
 public:
  explicit DyT(std::int64_t width, double alpha = 0.5);

  Var forward(const Var& x) override;

  Parameter& alpha;   // (1)
  Parameter& weight;  // (width), starts at one
  Parameter& bias;    // (width), starts at zero

 private:
  std::int64_t width_;
};

}  // namespace normlab
