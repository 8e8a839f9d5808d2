// Tested by tests/nn/norms/scale_norm_test.cpp.
#include "nn/norms/scale_norm.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/rms_norm.hpp"

namespace normlab {

ScaleNorm::ScaleNorm(std::int64_t width, double eps)
    : g(register_parameter("g", Tensor::scalar(std::sqrt(static_cast<double>(width))))),
      width_(width),
      eps_(eps) {
  check(width > 0, "ScaleNorm", "width", "must be positive", [&] { return std::to_string(width); });
  check_at_least("ScaleNorm", "eps", eps, 0.0);
  register_hyperparameter("norm", "ScaleNorm");
  register_hyperparameter("eps", eps);
}

// x / sqrt(|x|^2 + eps) = rms_norm(x, eps / d) / sqrt(d), since |x|^2 = d <x^2>.
Var ScaleNorm::forward(const Var& x) {
  const auto d = static_cast<double>(width_);
  return rms_norm(x, {width_}, std::nullopt, eps_ / d) * (x.tape().watch(g) / std::sqrt(d));
}

}  // namespace normlab
