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

  // Calls f with the function that gives xhat of an element.
  template <typename F>
  auto with_xhat(F f) const {
    if (unit == 1.0) return f([factor = r](double x) { return x * factor; });
    return f([u = unit, factor = r](double x) { return x * u * factor; });
  }
};

RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps);

RowStatistics row_statistics(const double* x, std::int64_t n, double eps) {
  const auto square = [x](std::int64_t i) { return x[i] * x[i]; };
  const double mean_square = row_sum(n, square) / static_cast<double>(n);
  if (!is_ordinary(mean_square, eps)) return extreme_row_statistics(x, n, eps);
  return {1.0, 1.0 / std::sqrt(mean_square + eps)};
}

void write_y_row(const double* x, RowStatistics stats, const double* weight, double* y,
                 std::int64_t n) {
  stats.with_xhat([=](auto xhat) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = xhat(x[i]);
  });
  if (weight != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= weight[i];
  }
}

// g = dy * weight is written to dx first, then turned into dx in place.
void write_dx_row(const double* dy, const double* x, RowStatistics stats, const double* weight,
                  double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = weight != nullptr ? dy[i] * weight[i] : dy[i];
  stats.with_xhat([=](auto xhat) {
    const double mean_g_xhat =
        row_sum(n, [=](std::int64_t i) { return dx[i] * xhat(x[i]); }) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) dx[i] = stats.r * (dx[i] - xhat(x[i]) * mean_g_xhat);
  });
  if (stats.unit == 1.0) return;
  for (std::int64_t i = 0; i < n; ++i) dx[i] *= stats.unit;
}

void add_dweight_row(const double* dy, const double* x, RowStatistics stats, ColumnSums& dweight) {
  stats.with_xhat([=, &dweight](auto xhat) {
    dweight.add_row([=](std::int64_t i) { return dy[i] * xhat(x[i]); });
  });
}

// For rows whose squares overflow or underflow although the result is ordinary.
RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  const double unit = unit_for(largest);
  const auto square = [=](std::int64_t i) { return (x[i] * unit) * (x[i] * unit); };
  return {unit, reciprocal_root(row_sum(n, square) / static_cast<double>(n), unit, eps)};
}

}  // namespace

Var rms_norm(const Var& x, const Shape& normalized_shape, const std::optional<Var>& weight,
             double eps) {
  const NormRows rows = check_norm_rows("rms_norm", x, normalized_shape, weight, std::nullopt, eps);
  const std::int64_t n = rows.width;
  const Tensor x_value = x.value(), w = weight ? weight->value() : Tensor();
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  std::vector<RowStatistics> stats(static_cast<std::size_t>(rows.count));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const double* x_row = x_value.data() + row * n;
    RowStatistics& of_row = stats[static_cast<std::size_t>(row)];
    of_row = row_statistics(x_row, n, eps);
    write_y_row(x_row, of_row, w.data(), out + row * n, n);
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
          if (dweight) add_dweight_row(dy_row, x_row, row, weight_sums);
          x_row += n, dy_row += n, dx_row += n;
        }
        weight_sums.finish();
        if (dx) dx += std::move(to_x);
        if (dweight) dweight += std::move(to_weight);
      });
}

}  // namespace normlab
