// Tested by tests/nn/optim/gradient_clipping_test.cpp against PyTorch.
#include "nn/optim/gradient_clipping.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.hpp"

namespace normlab {

namespace {

// A NaN is larger than everything, so that it is not lost.
double largest_magnitude(const Tensor& x) {
  double largest = 0.0;
  for (const double value : x.values()) {
    const double magnitude = std::abs(value);
    if (!(magnitude <= largest)) largest = magnitude;
    if (std::isnan(largest)) break;
  }
  return largest;
}

// Scaled by the largest element, as the Frobenius norm of core/tensor.hpp is.
double p_norm(const Tensor& x, double p) {
  if (p == 2.0) return norm(x);
  const double largest = largest_magnitude(x);
  if (std::isinf(p) || largest == 0.0 || !std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (const double value : x.values()) sum += std::pow(std::abs(value) / largest, p);
  return largest * std::pow(sum, 1.0 / p);
}

}  // namespace

double grad_norm(const std::vector<Parameter*>& parameters, double p) {
  check(p > 0.0, "grad_norm", "p", "must be positive", [&] { return std::to_string(p); });
  std::vector<double> norms;
  for (const Parameter* each : parameters) {
    if (each->grad.defined()) norms.push_back(p_norm(each->grad, p));
  }
  return p_norm(Tensor({std::ssize(norms)}, norms), p);
}

double clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm, double p) {
  check_at_least("clip_grad_norm", "max_norm", max_norm, 0.0);
  const double total = grad_norm(parameters, p);
  const double factor = max_norm / (total + 1e-6);
  if (factor >= 1.0) return total;  // false for NaN, which must reach the gradients
  for (Parameter* each : parameters) {
    if (!each->grad.defined()) continue;
    for (double& value : each->grad.mutable_values()) value *= factor;
  }
  return total;
}

void clip_grad_value(const std::vector<Parameter*>& parameters, double limit) {
  check_at_least("clip_grad_value", "limit", limit, 0.0);
  for (Parameter* each : parameters) {
    if (!each->grad.defined()) continue;
    for (double& value : each->grad.mutable_values()) value = std::clamp(value, -limit, limit);
  }
}

}  // namespace normlab
