// y = weight * xhat,   xhat = x * r,   r = 1 / sqrt(<x^2> + eps)
//
// layer_norm without the centring, and so its backward without the mean of g. With g = dy * weight:
//   dx = r * (g - xhat * <g * xhat>)
//   dweight = sum over rows of dy * xhat
//
// Saved besides x and weight: r, with its unit, two numbers per row.
// Tested by tests/core/ops/rms_norm_test.cpp.
#include "core/ops/rms_norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernels/compensated_sums.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/ops/norm_rows.hpp"

namespace normlab {

namespace {

struct RowStatistics {
  double unit;  // 1, but in rows whose squares overflow or underflow
  double r;     // of the row in units

  double xhat(double x) const { return x * unit * r; }
};

RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps);

double mean_square(const double* x, std::int64_t n, double unit) {
  return row_sum(n, [x, unit](std::int64_t i) { return (x[i] * unit) * (x[i] * unit); }) /
         static_cast<double>(n);
}

RowStatistics row_statistics(const double* x, std::int64_t n, double eps) {
  const double square = mean_square(x, n, 1.0);
  if (!is_ordinary(square, eps)) return extreme_row_statistics(x, n, eps);
  return {1.0, 1.0 / std::sqrt(square + eps)};
}

void write_y_row(const double* x, RowStatistics stats, const double* weight, double* y,
                 std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = stats.xhat(x[i]);
  if (weight != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= weight[i];
  }
}

// g = dy * weight is written to dx first, then turned into dx in place.
void write_dx_row(const double* dy, const double* x, RowStatistics stats, const double* weight,
                  double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = weight != nullptr ? dy[i] * weight[i] : dy[i];
  const double mean_g_xhat =
      row_sum(n, [=](std::int64_t i) { return dx[i] * stats.xhat(x[i]); }) / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] = stats.r * (dx[i] - stats.xhat(x[i]) * mean_g_xhat) * stats.unit;
  }
}

// For rows whose squares overflow or underflow although the result is ordinary.
RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  const double unit = unit_for(largest);
  return {unit, reciprocal_root(mean_square(x, n, unit), unit, eps)};
}

}  // namespace

Var rms_norm(const Var& x, const Shape& normalized_shape, const std::optional<Var>& weight,
             double eps) {
  const NormRows rows = check_norm_rows("rms_norm", x, normalized_shape, weight, std::nullopt, eps);
  const std::int64_t n = rows.width;
  const Tensor x_value = x.value(), w = weight ? weight->value() : Tensor();
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  std::vector<RowStatistics> stats;
  stats.reserve(static_cast<std::size_t>(rows.count));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const double* x_row = x_value.data() + row * n;
    stats.push_back(row_statistics(x_row, n, eps));
    write_y_row(x_row, stats.back(), w.data(), out + row * n, n);
  }

  Adjoint dx(x), dweight(weight);
  return record(
      "rms_norm", std::move(y), present(x, weight),
      [dx, dweight, x_value, w, stats = std::move(stats), n, normalized_shape](const Tensor& dy) {
        Tensor to_x = Tensor::uninitialized(x_value.shape());
        Tensor to_weight = Tensor::zeros(normalized_shape);
        ColumnSums weight_sums(to_weight.mutable_data(), n, std::ssize(stats));
        const double *x_row = x_value.data(), *dy_row = dy.data();
        double* dx_row = to_x.mutable_data();
        for (const RowStatistics& row : stats) {
          if (dx) write_dx_row(dy_row, x_row, row, w.data(), dx_row, n);
          if (dweight) {
            weight_sums.add_row(
                [=, &row](std::int64_t i) { return dy_row[i] * row.xhat(x_row[i]); });
          }
          x_row += n, dy_row += n, dx_row += n;
        }
        weight_sums.finish();
        if (dx) dx += std::move(to_x);
        if (dweight) dweight += std::move(to_weight);
      });
}

}  // namespace normlab
