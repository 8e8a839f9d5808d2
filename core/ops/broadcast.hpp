#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "core/check.hpp"
#include "core/tape.hpp"

// NumPy's broadcasting: shapes are aligned at their last axes, and an axis of extent 1 (or missing)
// is repeated. The adjoint of repeating is summing, which stands once, in `sum_to`.
namespace normlab {

// The shape both broadcast to. Throws std::invalid_argument naming `op` if there is none.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

// Strides with which a contiguous tensor of shape `from` is read as if it had shape `to`: 0 along
// the axes that are repeated.
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

// Sums `x` over the axes along which `shape` broadcasts to x's shape. Long sums are pairwise or
// compensated: their rounding error does not grow with the number of terms.
Tensor sum_to(const Tensor& x, const Shape& shape);

// x repeated to `shape`. Backward: sum_to.
Var broadcast_to(const Var& x, const Shape& shape);

// Calls f(i, offset_a, offset_b) for the start of every row of `shape` (i counts rows), with the
// element offsets of two operands read through their strides.
template <std::invocable<std::int64_t, std::int64_t, std::int64_t> F>
void for_each_row(const Shape& shape, const std::vector<std::int64_t>& strides_a,
                  const std::vector<std::int64_t>& strides_b, F f) {
  const std::int64_t outer_axes = shape.rank() - 1;
  std::vector<std::int64_t> index(static_cast<std::size_t>(std::max<std::int64_t>(outer_axes, 0)));
  std::int64_t a = 0;
  std::int64_t b = 0;
  const std::int64_t rows = shape.numel() == 0 ? 0 : shape.rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    f(row, a, b);
    for (std::size_t axis = index.size(); axis-- > 0;) {  // count up, last axis fastest
      a += strides_a[axis];
      b += strides_b[axis];
      if (++index[axis] < shape.extents()[axis]) break;
      a -= strides_a[axis] * shape.extents()[axis];
      b -= strides_b[axis] * shape.extents()[axis];
      index[axis] = 0;
    }
  }
}

// f(a, b) elementwise with broadcasting.
template <std::invocable<double, double> F>
Tensor broadcast_zip(std::string_view op, const Tensor& a, const Tensor& b, F f) {
  check(a.defined() && b.defined(), op, "operands", "must be tensors", "none");
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  const std::vector<std::int64_t> strides_a = broadcast_strides(a.shape(), shape);
  const std::vector<std::int64_t> strides_b = broadcast_strides(b.shape(), shape);
  const std::int64_t step_a = shape.rank() == 0 ? 0 : strides_a.back();
  const std::int64_t step_b = shape.rank() == 0 ? 0 : strides_b.back();
  Tensor y = Tensor::uninitialized(shape);
  double* out = y.mutable_data();
  const std::int64_t width = shape.width();
  for_each_row(shape, strides_a, strides_b,
               [&](std::int64_t row, std::int64_t at_a, std::int64_t at_b) {
                 const double* left = a.data() + at_a;
                 const double* right = b.data() + at_b;
                 double* to = out + row * width;
                 for (std::int64_t j = 0; j < width; ++j)
                   to[j] = f(left[j * step_a], right[j * step_b]);
               });
  return y;
}

}  // namespace normlab
