// y = softmax(x):      dx = y * (dy - <y, dy>)           <.,.> summed along the axis
// y = log_softmax(x):  dx = dy - e^y * sum(dy)
// Kernels work on contiguous lines; another axis than the last one is brought there and back by
// permute, which has its own backward.
// Tested by tests/core/ops/softmax_test.cpp.
#include "core/ops/softmax.hpp"

#include <cmath>
#include <numeric>

#include "core/kernels/row_kernels.hpp"
#include "core/ops/shape_ops.hpp"

namespace normlab {

namespace {

void log_softmax_row(const double* x, double* y, std::int64_t n) {
  const double largest = row_max(x, n);
  const double log_sum =
      std::log(lane_sum(n, [=](std::int64_t i) { return std::exp(x[i] - largest); }));
  // in this order: next to a large maximum the logarithm would be rounded away
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - largest) - log_sum;
}

Var softmax_of_rows(const Var& x) {
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  const std::int64_t rows = y.rows(), n = y.width();
  for (std::int64_t i = 0; i < rows; ++i) softmax_row(x.value().data() + i * n, out + i * n, n);
  Adjoint dx(x);
  return record("softmax", y, {x}, [dx, y, rows, n](const Tensor& dy) {
    Tensor g = Tensor::uninitialized(dy.shape());
    double* to = g.mutable_data();
    for (std::int64_t i = 0; i < rows; ++i) {
      softmax_row_backward(y.data() + i * n, dy.data() + i * n, to + i * n, n);
    }
    dx += std::move(g);
  });
}

Var log_softmax_of_rows(const Var& x) {
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  const std::int64_t rows = y.rows(), n = y.width();
  for (std::int64_t i = 0; i < rows; ++i) log_softmax_row(x.value().data() + i * n, out + i * n, n);
  Adjoint dx(x);
  return record("log_softmax", y, {x}, [dx, y, rows, n](const Tensor& dy) {
    Tensor g = Tensor::uninitialized(dy.shape());
    double* to = g.mutable_data();
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* dy_row = dy.data() + i * n;
      const double* y_row = y.data() + i * n;
      const double total = lane_sum(n, [=](std::int64_t j) { return dy_row[j]; });
      for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = dy_row[j] - std::exp(y_row[j]) * total;
    }
    dx += std::move(g);
  });
}

// Applies an op for rows along any axis.
Var along_axis(const char* op, const Var& x, std::int64_t axis, Var (*of_rows)(const Var&)) {
  const std::int64_t rank = x.value().rank();
  const std::int64_t at = normalize_axis(op, axis, rank);
  if (at == rank - 1) return of_rows(x);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(at)], order.back());  // its own inverse
  return permute(of_rows(permute(x, order)), order);
}

}  // namespace

Var softmax(const Var& x, std::int64_t axis) {
  return along_axis("softmax", x, axis, softmax_of_rows);
}

Var log_softmax(const Var& x, std::int64_t axis) {
  return along_axis("log_softmax", x, axis, log_softmax_of_rows);
}

}  // namespace normlab
