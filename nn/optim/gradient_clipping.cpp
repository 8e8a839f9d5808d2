// Tested by tests/nn/optim/gradient_clipping_test.cpp against PyTorch.
#include "nn/optim/gradient_clipping.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.hpp"

namespace normlab {

namespace {

// NaN if any element is NaN.
double largest_magnitude(const Tensor& x) {
  double largest = 0.0;
  for (const double value : x.values()) {
    const double magnitude = std::abs(value);
    if (!(magnitude <= largest)) largest = magnitude;
    if (std::isnan(largest)) break;
  }
  return largest;
}

// Divides by the largest element first, as core's norm() does, so powers cannot overflow.
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
  for (const Parameter* parameter : parameters) {
    if (parameter->grad.defined()) norms.push_back(p_norm(parameter->grad, p));
  }
  return p_norm(Tensor({std::ssize(norms)}, norms), p);
}

double clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm, double p) {
  check_at_least("clip_grad_norm", "max_norm", max_norm, 0.0);
  const double total = grad_norm(parameters, p);
  const double factor = max_norm / (total + 1e-6);
  if (factor >= 1.0) return total;  // false for NaN: the gradients must become NaN, too
  for (Parameter* parameter : parameters) {
    if (!parameter->grad.defined()) continue;
    for (double& value : parameter->grad.mutable_values()) value *= factor;
  }
  return total;
}

void clip_grad_value(const std::vector<Parameter*>& parameters, double limit) {
  check_at_least("clip_grad_value", "limit", limit, 0.0);
  for (Parameter* parameter : parameters) {
    if (!parameter->grad.defined()) continue;
    for (double& value : parameter->grad.mutable_values()) value = std::clamp(value, -limit, limit);
  }
}

}  // namespace normlab
