// Each backward is dx = dy * f'(x), with f' in terms of y where y is at hand anyway.
// Tested by tests/core/ops/elementwise_test.cpp.
#include "core/ops/elementwise.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/map.hpp"

namespace normlab {

// y = e^x:  dx = dy * y
Var exp(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::exp(v); });
  Adjoint dx(x);
  return record("exp", y, {x},
                [dx, y](const Tensor& dy) { dx += zip(dy, y, std::multiplies<>{}); });
}

// y = ln x:  dx = dy / x
Var log(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::log(v); });
  Adjoint dx(x);
  return record("log", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, std::divides<>{});
  });
}

// y = sqrt x:  dx = dy / (2 y)
Var sqrt(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::sqrt(v); });
  Adjoint dx(x);
  return record("sqrt", y, {x}, [dx, y](const Tensor& dy) {
    dx += zip(dy, y, [](double g, double root) { return root == 0.0 ? 0.0 : g / (2.0 * root); });
  });
}

// y = x^p:  dx = dy * p x^(p-1)
Var pow(const Var& x, double exponent) {
  Tensor y = map(x.value(), [exponent](double v) { return std::pow(v, exponent); });
  Adjoint dx(x);
  return record("pow", std::move(y), {x}, [dx, value = x.value(), exponent](const Tensor& dy) {
    dx += zip(dy, value, [exponent](double g, double v) {
      return exponent == 0.0 ? 0.0 : g * exponent * std::pow(v, exponent - 1.0);
    });
  });
}

// y = x^2:  dx = dy * 2 x
Var square(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return v * v; });
  Adjoint dx(x);
  return record("square", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [](double g, double v) { return g * 2.0 * v; });
  });
}

// y = erf x:  dx = dy * 2 / sqrt(pi) e^(-x^2)
Var erf(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::erf(v); });
  Adjoint dx(x);
  return record("erf", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    constexpr double kSlopeAt0 = 2.0 * std::numbers::inv_sqrtpi;
    dx += zip(dy, value, [](double g, double v) { return g * kSlopeAt0 * std::exp(-v * v); });
  });
}

Var detach(const Var& x) { return x.tape().constant(x.value()); }

// y = |x|:  dx = dy * sign(x)
Var abs(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::abs(v); });
  Adjoint dx(x);
  return record("abs", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value,
              [](double g, double v) { return v == 0.0 ? 0.0 : std::copysign(1.0, v) * g; });
  });
}

// y = x inside [low, high]:  dx = dy inside, else 0
Var clamp(const Var& x, double low, double high) {
  check(low <= high, "clamp", "low", "must not be above high",
        [&] { return fmt::format("{} and {}", low, high); });
  Tensor y = map(x.value(), [=](double v) { return v < low ? low : (v > high ? high : v); });
  Adjoint dx(x);
  return record("clamp", std::move(y), {x}, [=, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [=](double g, double v) { return v < low || v > high ? 0.0 : g; });
  });
}

}  // namespace normlab
