// y = weight * xhat + bias,   xhat = (x - mean) * rstd,   rstd = 1 / sqrt(var + eps)
//
// With g = dy * weight and <.> the mean over the row (derivation: docs/layer-norm.md):
//   dx = rstd * (g - <g> - xhat * <g * xhat>)
//   dweight = sum over rows of dy * xhat         dbias = sum over rows of dy
//
// Saved besides x and weight: the statistics, four numbers per row. xhat is recomputed from them:
// cheaper than reading it back from memory. The variance is the mean of centred squares, never
// <x^2> - <x>^2: that difference cancels to nothing when the row has a common offset.
// Tested by tests/core/ops/layer_norm_test.cpp.
#include "core/ops/layer_norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernels/compensated_sums.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/ops/broadcast.hpp"
#include "core/ops/norm_rows.hpp"

namespace normlab {

namespace {

// The mean is origin + mean / unit, in two parts because one double cannot hold it when it is large
// next to the spread. In ordinary rows the origin is the rounded mean, unit is 1 and `mean` is 0.
struct RowStatistics {
  double origin, unit, mean;
  double rstd;

  // The deviation of an element from the mean, in units: for ordinary rows, and for every row.
  auto plain_deviation() const {
    return [o = origin](double x) { return x - o; };
  }
  auto scaled_deviation() const {
    return [o = origin, u = unit, m = mean](double x) { return (x - o) * u - m; };
  }

  // Calls f with the one that the row needs.
  template <typename F>
  void with_deviation(F f) const {
    if (unit == 1.0 && mean == 0.0) {
      f(plain_deviation());
    } else {
      f(scaled_deviation());
    }
  }
};

RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps);

template <typename Deviation>
double mean_deviation(const double* x, std::int64_t n, Deviation deviation) {
  return row_sum(n, [=](std::int64_t i) { return deviation(x[i]); }) / static_cast<double>(n);
}

template <typename Deviation>
double mean_squared_deviation(const double* x, std::int64_t n, Deviation deviation) {
  const auto square = [=](std::int64_t i) { return deviation(x[i]) * deviation(x[i]); };
  return row_sum(n, square) / static_cast<double>(n);
}

// The mean is measured from the row's first element, so a constant row has exactly its own mean;
// otherwise a rounding residue would be blown up at eps = 0.
RowStatistics row_statistics(const double* x, std::int64_t n, double eps) {
  RowStatistics stats{x[0], 1.0, 0.0, 0.0};
  stats.origin += mean_deviation(x, n, stats.plain_deviation());
  double variance = mean_squared_deviation(x, n, stats.plain_deviation());
  // Up to 16 standard deviations from zero, rounding the mean costs no more than rounding xhat.
  if (stats.origin * stats.origin > 256.0 * variance) {
    stats.mean = mean_deviation(x, n, stats.plain_deviation());
    variance = mean_squared_deviation(x, n, stats.scaled_deviation());
  }
  if (!is_ordinary(variance, eps)) return extreme_row_statistics(x, n, eps);
  stats.rstd = 1.0 / std::sqrt(variance + eps);
  return stats;
}

void write_y_row(const double* x, const RowStatistics& stats, const double* weight,
                 const double* bias, double* y, std::int64_t n) {
  stats.with_deviation([=, rstd = stats.rstd](auto deviation) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = deviation(x[i]) * rstd;
  });
  if (weight != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= weight[i];
  }
  if (bias != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += bias[i];
  }
}

// g = dy * weight is written to dx first, then turned into dx in place.
void write_dx_row(const double* dy, const double* x, const RowStatistics& stats,
                  const double* weight, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = weight != nullptr ? dy[i] * weight[i] : dy[i];
  const double count = static_cast<double>(n), rstd = stats.rstd;
  const double mean_g = row_sum(n, [=](std::int64_t i) { return dx[i]; }) / count;
  stats.with_deviation([=](auto deviation) {
    const auto xhat = [=](std::int64_t i) { return deviation(x[i]) * rstd; };
    const double mean_g_xhat = row_sum(n, [=](std::int64_t i) { return dx[i] * xhat(i); }) / count;
    for (std::int64_t i = 0; i < n; ++i) dx[i] = rstd * (dx[i] - mean_g - xhat(i) * mean_g_xhat);
  });
  if (stats.unit == 1.0) return;
  for (std::int64_t i = 0; i < n; ++i) dx[i] *= stats.unit;
}

void add_dweight_row(const double* dy, const double* x, const RowStatistics& stats,
                     ColumnSums& dweight) {
  stats.with_deviation([=, &dweight, rstd = stats.rstd](auto deviation) {
    dweight.add_row([=](std::int64_t i) { return dy[i] * (deviation(x[i]) * rstd); });
  });
}

// For rows whose squared deviations overflow or underflow although the result is ordinary: they are
// measured from the first element, in units of about the largest one.
RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i] - x[0]));
  RowStatistics stats{x[0], unit_for(largest), 0.0, 0.0};
  stats.mean = mean_deviation(x, n, stats.scaled_deviation());
  const double variance = mean_squared_deviation(x, n, stats.scaled_deviation());
  stats.rstd = reciprocal_root(variance, stats.unit, eps);
  return stats;
}

}  // namespace

Var layer_norm(const Var& x, const Shape& normalized_shape, const std::optional<Var>& weight,
               const std::optional<Var>& bias, double eps) {
  const NormRows rows = check_norm_rows("layer_norm", x, normalized_shape, weight, bias, eps);
  const std::int64_t n = rows.width;
  const Tensor x_value = x.value(), w = weight ? weight->value() : Tensor();
  const double* b = bias ? bias->value().data() : nullptr;
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  std::vector<RowStatistics> stats(static_cast<std::size_t>(rows.count));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const double* x_row = x_value.data() + row * n;
    RowStatistics& of_row = stats[static_cast<std::size_t>(row)];
    of_row = row_statistics(x_row, n, eps);
    write_y_row(x_row, of_row, w.data(), b, out + row * n, n);
  }

  Adjoint dx(x), dweight(weight), dbias(bias);
  return record("layer_norm", std::move(y), present(x, weight, bias),
                [dx, dweight, dbias, x_value, w, stats = std::move(stats), n,
                 normalized_shape](const Tensor& dy) {
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
                  if (dbias) dbias += sum_to(dy, normalized_shape);
                });
}

}  // namespace normlab
