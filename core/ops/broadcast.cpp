#include "core/ops/broadcast.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace normlab {

namespace {

// sums += all rows of x, as a bias gradient needs it. Four rows at a time: the sums are then read
// and written a quarter as often.
void add_rows(const double* x, std::int64_t rows, std::int64_t width, double* sums) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * width) {
    const double *x0 = x, *x1 = x + width, *x2 = x1 + width, *x3 = x2 + width;
    for (std::int64_t j = 0; j < width; ++j) sums[j] += (x0[j] + x1[j]) + (x2[j] + x3[j]);
  }
  for (; row < rows; ++row, x += width) {
    for (std::int64_t j = 0; j < width; ++j) sums[j] += x[j];
  }
}

}  // namespace

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const std::int64_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);
  for (std::int64_t back = 1; back <= rank; ++back) {
    const std::int64_t from_a = back <= a.rank() ? a[-back] : 1;
    const std::int64_t from_b = back <= b.rank() ? b[-back] : 1;
    check(from_a == from_b || from_a == 1 || from_b == 1, op, "shapes",
          "must broadcast (aligned at the last axis, equal or 1)",
          [&] { return a.str() + " and " + b.str(); });
    extents[static_cast<std::size_t>(rank - back)] = from_a == 1 ? from_b : from_a;
  }
  return Shape(std::move(extents));
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const std::vector<std::int64_t> own = contiguous_strides(from);
  std::vector<std::int64_t> strides(to.extents().size(), 0);
  for (std::int64_t back = 1; back <= from.rank(); ++back) {
    if (from[-back] != 1)
      strides[strides.size() - static_cast<std::size_t>(back)] =
          own[own.size() - static_cast<std::size_t>(back)];
  }
  return strides;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor sum = Tensor::zeros(shape);
  double* out = sum.mutable_data();
  if (shape.rank() == 1 && shape[0] == x.width()) {
    add_rows(x.data(), x.rows(), x.width(), out);
    return sum;
  }
  const std::vector<std::int64_t> strides = broadcast_strides(shape, x.shape());
  const std::int64_t step = x.rank() == 0 ? 0 : strides.back();
  const std::int64_t width = x.width();
  for_each_row(x.shape(), strides, strides, [&](std::int64_t row, std::int64_t at, std::int64_t) {
    const double* in = x.data() + row * width;
    for (std::int64_t j = 0; j < width; ++j) out[at + j * step] += in[j];
  });
  return sum;
}

Var broadcast_to(const Var& x, const Shape& shape) {
  check(broadcast_shapes("broadcast_to", x.shape(), shape) == shape, "broadcast_to", "shape",
        "must be one that " + x.shape().str() + " broadcasts to", [&] { return shape.str(); });
  Tensor y = broadcast_zip("broadcast_to", x.value(), Tensor::uninitialized(shape),
                           [](double from_x, double) { return from_x; });
  Adjoint dx(x);
  return record("broadcast_to", std::move(y), {x},
                [dx, from = x.shape()](const Tensor& dy) { dx += sum_to(dy, from); });
}

}  // namespace normlab
