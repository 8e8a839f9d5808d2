// docs/layer-norm.md: the Jacobian by reverse passes, against its closed form.
#include <cmath>

#include <fmt/format.h>

#include "core/ops/layer_norm.hpp"
#include "core/tools/jacobian.hpp"

using namespace normlab;

constexpr std::int64_t kWidth = 4;

// sqrt(d) / |y| (I - yhat yhat^T) (I - 1 1^T / d), written out: the projections commute, because
// yhat is centred.
Tensor closed_form(const Tensor& y) {
  const double length = norm(y), d = kWidth;
  Tensor result = Tensor::uninitialized({kWidth, kWidth});
  for (std::int64_t i = 0; i < kWidth; ++i) {
    for (std::int64_t j = 0; j < kWidth; ++j) {
      const double yhat_yhat = y.data()[i] / length * (y.data()[j] / length);
      const double entry = (i == j ? 1.0 : 0.0) - yhat_yhat - 1.0 / d;
      result.mutable_data()[i * kWidth + j] = std::sqrt(d) / length * entry;
    }
  }
  return result;
}

// |J v| for a matrix J and a vector v.
double length_of_product(const Tensor& j, const Tensor& v) {
  Tensor result = Tensor::zeros(v.shape());
  for (std::int64_t row = 0; row < kWidth; ++row) {
    for (std::int64_t column = 0; column < kWidth; ++column) {
      result.mutable_data()[row] += j.at({row, column}) * v.data()[column];
    }
  }
  return norm(result);
}

int main() {
  const Tensor row({kWidth}, {1, 2, 3, 6}), y({kWidth}, {-2, -1, 0, 3});  // mean 3
  Tape tape;
  const Var x = tape.variable(row);
  const Var normalized = layer_norm(x, {kWidth}, std::nullopt, std::nullopt, 0.0);
  const Tensor j = jacobian(normalized, x);
  for (std::int64_t i = 0; i < kWidth; ++i) {
    fmt::print("{:8.4f} {:8.4f} {:8.4f} {:8.4f}\n", j.at({i, 0}), j.at({i, 1}), j.at({i, 2}),
               j.at({i, 3}));
  }
  fmt::print("equals the closed form:      {}\n", max_abs_difference(j, closed_form(y)) < 1e-14);
  fmt::print("|J 1| vanishes:              {}\n",
             length_of_product(j, Tensor::ones({kWidth})) < 1e-14);
  fmt::print("|J y| vanishes:              {}\n", length_of_product(j, y) < 1e-14);

  constexpr double kEps = 0.5;  // large, to be seen; the variance of this row is 3.5
  const Tensor with_eps = jacobian(layer_norm(x, {kWidth}, std::nullopt, std::nullopt, kEps), x);
  fmt::print("|J y| / (rstd |y|), eps 0.5: {:.4f}\n",
             length_of_product(with_eps, y) / (norm(y) / std::sqrt(3.5 + kEps)));
}
