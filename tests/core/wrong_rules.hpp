#pragma once

#include <cmath>
#include <vector>

#include "core/kernels/map.hpp"
#include "core/tape.hpp"

// Ops with right values and wrong gradients, each by a fault that has been made.
namespace normlab {

// x^3 whose gradient is off by a factor.
inline Var wrong_cube(const Var& x, double factor) {
  const Adjoint dx(x);
  return record("wrong_cube", map(x.value(), [](double v) { return v * v * v; }), {x},
                [dx, factor, value = x.value()](const Tensor& dy) {
                  dx += zip(dy, value,
                            [factor](double g, double v) { return factor * g * 3 * v * v; });
                });
}

// x^2 with one element of the gradient off by a factor.
inline Var square_with_wrong_element(const Var& x, std::int64_t element, double factor) {
  const Adjoint dx(x);
  return record("wrong_square", map(x.value(), [](double v) { return v * v; }), {x},
                [=, value = x.value()](const Tensor& dy) {
                  Tensor g = zip(dy, value, [](double d, double v) { return 2 * d * v; });
                  g.mutable_data()[element] *= factor;
                  dx += std::move(g);
                });
}

// softmax by rows whose gradient is y * dy: the term -y * <y, dy> is missing.
inline Var softmax_without_mean_term(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::exp(v); });
  double* out = y.mutable_data();
  for (std::int64_t row = 0; row < y.rows(); ++row, out += y.width()) {
    double total = 0.0;
    for (std::int64_t j = 0; j < y.width(); ++j) total += out[j];
    for (std::int64_t j = 0; j < y.width(); ++j) out[j] /= total;
  }
  const Adjoint dx(x);
  return record("wrong_softmax", y, {x},
                [dx, y](const Tensor& dy) { dx += zip(dy, y, std::multiplies<>{}); });
}

// a * b with the effect of `da = ...; db = ...;`: where a and b are one Var, the second assignment
// overwrites the first.
inline Var product_that_overwrites(const Var& a, const Var& b) {
  const bool same = a.needs_grad() && b.needs_grad() && a.node() == b.node();
  const Adjoint da(a), db(b);
  return record("wrong_mul", zip(a.value(), b.value(), std::multiplies<>{}), {a, b},
                [=, x_a = a.value(), x_b = b.value()](const Tensor& dy) {
                  if (!same) da += zip(dy, x_b, std::multiplies<>{});
                  db += zip(dy, x_a, std::multiplies<>{});
                });
}

// The value of `y`, which was computed from x, with a gradient of zeros.
inline Var with_zero_gradient(const Var& y, const Var& x) {
  const Adjoint dx(x);
  return record("wrong_zero", y.value(), {x},
                [dx, shape = x.shape()](const Tensor&) { dx += Tensor::zeros(shape); });
}

}  // namespace normlab
