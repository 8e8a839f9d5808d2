#include "core/ops/broadcast.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/kernels/compensated_sums.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

// sums += all rows of x, as a bias gradient needs it. Four rows at a time: the sums are then read
// and written a quarter as often.
void add_rows(const double* x, std::int64_t rows, std::int64_t width, double* sums) {
  ColumnSums columns(sums, width, rows / 4);
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * width) {
    const double *x0 = x, *x1 = x + width, *x2 = x1 + width, *x3 = x2 + width;
    columns.add_row([=](std::int64_t j) { return (x0[j] + x1[j]) + (x2[j] + x3[j]); });
  }
  for (; row < rows; ++row, x += width) columns.add_row([x](std::int64_t j) { return x[j]; });
  columns.finish();
}

// As the plain loop of sum_to, for sums of many terms: rows are summed pairwise where the last axis
// is reduced, and the sums are compensated.
void add_many(const Tensor& x, const std::vector<std::int64_t>& strides, std::int64_t step,
              Tensor& sum) {
  const std::int64_t width = x.width();
  std::vector<double> lost(static_cast<std::size_t>(sum.numel()));
  double* out = sum.mutable_data();
  for_each_row(x.shape(), strides, strides, [&](std::int64_t row, std::int64_t at, std::int64_t) {
    const double* in = x.data() + row * width;
    double *to = out + at, *to_lost = lost.data() + at;
    if (step == 0) {
      add_compensated(row_sum(width, [in](std::int64_t j) { return in[j]; }), *to, *to_lost);
    } else {
      for (std::int64_t j = 0; j < width; ++j) add_compensated(in[j], to[j], to_lost[j]);
    }
  });
  for (std::int64_t i = 0; i < sum.numel(); ++i) {
    out[i] = with_lost(out[i], lost[static_cast<std::size_t>(i)]);
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
  check(x.defined(), "sum_to", "x", "must be a tensor", "none");
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
  const std::int64_t terms = sum.numel() == 0 ? 0 : x.numel() / sum.numel();
  if (terms > (step == 0 ? kOnePiece : ColumnSums::kManyRows)) {
    add_many(x, strides, step, sum);
    return sum;
  }
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
