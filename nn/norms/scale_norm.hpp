#pragma once

#include "nn/module.hpp"

namespace normlab {

// ScaleNorm (Nguyen and Salazar 2019): y = g * x / sqrt(|x|^2 + eps), every token brought to one
// length g, a single learned number that starts at sqrt(d). So at the start it is RMSNorm.
class ScaleNorm : public Layer {
 public:
  explicit ScaleNorm(std::int64_t width, double eps = 1e-5);

  Var forward(const Var& x) override;

  Parameter& g;  // ()

 private:
  std::int64_t width_;
  double eps_;
};

}  // namespace normlab
