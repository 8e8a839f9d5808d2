// y = softmax(x):      dx = y * (dy - <y, dy>)           <.,.> summed along the axis
// y = log_softmax(x):  dx = dy - e^y * sum(dy)
// Kernels work on contiguous rows; any other axis is made the last one by permute, which has its
// own backward, and moved back afterwards.
// Tested by tests/core/ops/softmax_test.cpp.
#include "core/ops/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/kernels/row_kernels.hpp"
#include "core/ops/shape_ops.hpp"

namespace normlab {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void log_softmax_row(const double* x, double* y, std::int64_t n) {
  const double largest = row_max(x, n);
  if (largest == -kInfinity) {
    std::fill_n(y, n, -kInfinity);
    return;
  }
  const double log_sum = log_sum_exp_row(x, largest, n);
  // In this order: next to a large maximum the logarithm would be rounded away.
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - largest) - log_sum;
}

void log_softmax_row_backward(const double* y, const double* dy, double* dx, std::int64_t n) {
  if (std::all_of(y, y + n, [](double v) { return v == -kInfinity; })) {  // fully masked
    std::fill_n(dx, n, 0.0);
    return;
  }
  const double total = row_sum(n, [dy](std::int64_t i) { return dy[i]; });
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] - std::exp(y[i]) * total;
}

// A function of the last axis, applied to every row, whose backward needs y but not x.
struct RowFunction {
  const char* op;
  void (*forward)(const double* x, double* y, std::int64_t n);
  void (*backward)(const double* y, const double* dy, double* dx, std::int64_t n);
};

Var of_rows(const RowFunction& f, const Var& x) {
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  const std::int64_t rows = y.rows(), n = y.width();
  for (std::int64_t i = 0; i < rows; ++i) f.forward(x.value().data() + i * n, out + i * n, n);
  Adjoint dx(x);
  return record(f.op, y, {x}, [dx, y, rows, n, backward = f.backward](const Tensor& dy) {
    Tensor g = Tensor::uninitialized(dy.shape());
    double* to = g.mutable_data();
    for (std::int64_t i = 0; i < rows; ++i) {
      backward(y.data() + i * n, dy.data() + i * n, to + i * n, n);
    }
    dx += std::move(g);
  });
}

Var along_axis(const RowFunction& f, const Var& x, std::int64_t axis) {
  const std::int64_t rank = x.value().rank();
  const std::int64_t at = normalize_axis(f.op, axis, rank);
  if (at == rank - 1) return of_rows(f, x);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[static_cast<std::size_t>(at)], dims.back());  // its own inverse
  return permute(of_rows(f, permute(x, dims)), dims);
}

}  // namespace

Var softmax(const Var& x, std::int64_t axis) {
  return along_axis({"softmax", softmax_row, softmax_row_backward}, x, axis);
}

Var log_softmax(const Var& x, std::int64_t axis) {
  return along_axis({"log_softmax", log_softmax_row, log_softmax_row_backward}, x, axis);
}

}  // namespace normlab
