// Tested by tests/core/ops/activation_test.cpp.
#include "core/ops/activation.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "core/kernels/map.hpp"
#include "core/kernels/normal_distribution.hpp"

namespace normlab {

namespace {

double logistic(double v) { return 1.0 / (1.0 + std::exp(-v)); }

}  // namespace

// dx = dy where x > 0. The gate can be read off y, so x need not be saved. `v <= 0` is false for
// NaN, which therefore passes through.
Var relu(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return v <= 0.0 ? 0.0 : v; });
  Adjoint dx(x);
  return record("relu", y, {x}, [dx, y](const Tensor& dy) {
    dx += zip(dy, y, [](double g, double out) { return out == 0.0 ? 0.0 : g; });
  });
}

// dx = dy * slope,  slope = Phi(x) + x phi(x), phi the normal density. Phi is part of both y and
// slope, so both are computed at once, and the slope is kept in place of x.
Var gelu(const Var& x) {
  const Tensor& in = x.value();
  Tensor y = Tensor::uninitialized(in.shape()), slope = Tensor::uninitialized(in.shape());
  double *to_y = y.mutable_data(), *to_slope = slope.mutable_data();
  normal_distribution(in.data(), to_y, to_slope, in.numel());
  for (std::int64_t i = 0; i < in.numel(); ++i) {
    const double v = in.data()[i], cdf = to_y[i], density = to_slope[i];
    to_y[i] = v * cdf;
    to_slope[i] = cdf + v * density;
  }
  Adjoint dx(x);
  return record("gelu", std::move(y), {x},
                [dx, slope](const Tensor& dy) { dx += zip(dy, slope, std::multiplies<>{}); });
}

// With t = tanh(u), u = k (x + c x^3):  dx = dy * ((1 + t) + x (1 - t^2) u') / 2
// where u' = k (1 + 3 c x^2)
Var gelu_tanh(const Var& x) {
  constexpr double k = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  constexpr double c = 0.044715;
  const auto gate = [](double v) { return std::tanh(k * (v + c * v * v * v)); };
  Tensor y = map(x.value(), [=](double v) { return 0.5 * v * (1.0 + gate(v)); });
  Adjoint dx(x);
  return record("gelu_tanh", std::move(y), {x}, [dx, gate, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [=](double g, double v) {
      const double t = gate(v);
      const double saturation = 1.0 - t * t;
      if (saturation == 0.0) return 0.5 * g * (1.0 + t);  // here v * v may overflow, and 0 * inf
      return 0.5 * g * ((1.0 + t) + v * saturation * k * (1.0 + 3.0 * c * v * v));
    });
  });
}

// With s = sigmoid(x):  dx = dy * s (1 + x (1 - s))
Var silu(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return v * logistic(v); });
  Adjoint dx(x);
  return record("silu", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [](double g, double v) {
      const double s = logistic(v);
      return g * s * (1.0 + v * (1.0 - s));
    });
  });
}

// y = 1 / (1 + e^-x):  dx = dy * y (1 - y)
Var sigmoid(const Var& x) {
  Tensor y = map(x.value(), logistic);
  Adjoint dx(x);
  return record("sigmoid", y, {x}, [dx, y](const Tensor& dy) {
    dx += zip(dy, y, [](double g, double s) { return g * s * (1.0 - s); });
  });
}

// y = tanh x:  dx = dy * (1 - y^2)
Var tanh(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::tanh(v); });
  Adjoint dx(x);
  return record("tanh", y, {x}, [dx, y](const Tensor& dy) {
    dx += zip(dy, y, [](double g, double t) { return g * (1.0 - t * t); });
  });
}

}  // namespace normlab
