// y = weight * xhat + bias,   xhat = (x - mean) * rstd,   rstd = 1 / sqrt(var + eps)
//
// With g = dy * weight and <.> the mean over the row (derivation: docs/layer-norm.md):
//   dx = rstd * (g - <g> - xhat * <g * xhat>)
//   dweight = sum over rows of dy * xhat         dbias = sum over rows of dy
//
// Saved besides x and weight: mean and rstd, two numbers per row. xhat is recomputed from them:
// cheaper than reading it back from memory. The variance is the mean of centred squares, never
// <x^2> - <x>^2: that difference cancels to nothing when the row has a common offset. The mean is
// measured from the row's first element: rounding could otherwise put the mean of equal numbers
// beside them, and at eps = 0 that residue would be normalized to 1. Tested by
// tests/core/ops/layer_norm_test.cpp.
#include "core/ops/layer_norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernels/row_kernels.hpp"
#include "core/ops/broadcast.hpp"
#include "core/ops/norm_rows.hpp"

namespace normlab {

namespace {

struct RowStatistics {
  double mean;
  double rstd;
};

// Squares of the deviations overflow (or vanish) although the result is ordinary: measure them in
// units of the largest one.
RowStatistics extreme_row_statistics(const double* x, std::int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const double origin = x[0] / count;
  const double mean = x[0] + lane_sum(n, [=](std::int64_t i) { return x[i] / count - origin; });
  double scale = 0.0;
  for (std::int64_t i = 0; i < n; ++i) scale = std::max(scale, std::abs(x[i] - mean));
  if (scale == 0.0) scale = 1.0;
  const double mean_square = lane_sum(n,
                                      [=](std::int64_t i) {
                                        const double unit = (x[i] - mean) / scale;
                                        return unit * unit;
                                      }) /
                             count;
  return {mean, reciprocal_root(mean_square, scale, eps)};
}

RowStatistics row_statistics(const double* x, std::int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const double origin = x[0];
  const double mean = origin + lane_sum(n, [=](std::int64_t i) { return x[i] - origin; }) / count;
  const double variance = lane_sum(n,
                                   [=](std::int64_t i) {
                                     const double deviation = x[i] - mean;
                                     return deviation * deviation;
                                   }) /
                          count;
  constexpr double kSmallest = 1e-280, kLargest = 1e280;
  if (!(variance + eps > kSmallest && variance < kLargest))
    return extreme_row_statistics(x, n, eps);
  return {mean, 1.0 / std::sqrt(variance + eps)};
}

void normalize_row(const double* x, RowStatistics stats, const double* weight, const double* bias,
                   double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - stats.mean) * stats.rstd;
  if (weight != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= weight[i];
  }
  if (bias != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += bias[i];
  }
}

// g = dy * weight is laid into dx first, then turned into dx in place.
void write_dx_row(const double* dy, const double* x, RowStatistics stats, const double* weight,
                  double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = weight != nullptr ? dy[i] * weight[i] : dy[i];
  const double count = static_cast<double>(n);
  const double mean_g = lane_sum(n, [=](std::int64_t i) { return dx[i]; }) / count;
  const double mean_g_xhat =
      lane_sum(n, [=](std::int64_t i) { return dx[i] * ((x[i] - stats.mean) * stats.rstd); }) /
      count;
  for (std::int64_t i = 0; i < n; ++i) {
    const double xhat = (x[i] - stats.mean) * stats.rstd;
    dx[i] = stats.rstd * (dx[i] - mean_g - xhat * mean_g_xhat);
  }
}

void add_dweight_row(const double* dy, const double* x, RowStatistics stats, double* dweight,
                     std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dweight[i] += dy[i] * ((x[i] - stats.mean) * stats.rstd);
}

}  // namespace

Var layer_norm(const Var& x, const Shape& normalized_shape, const std::optional<Var>& weight,
               const std::optional<Var>& bias, double eps) {
  const NormRows rows = check_norm_rows("layer_norm", x, normalized_shape, weight, bias, eps);
  const Tensor input = x.value(), gain = weight ? weight->value() : Tensor();
  const double* shift = bias ? bias->value().data() : nullptr;
  Tensor y = Tensor::uninitialized(x.shape());
  std::vector<RowStatistics> stats(static_cast<std::size_t>(rows.count));
  for_each_norm_row(rows, input, y, [&](std::size_t row, const double* x_row, double* y_row) {
    stats[row] = row_statistics(x_row, rows.width, eps);
    normalize_row(x_row, stats[row], gain.data(), shift, y_row, rows.width);
  });

  Adjoint dx(x), dweight(weight), dbias(bias);
  return record("layer_norm", std::move(y), present(x, weight, bias),
                [=, stats = std::move(stats)](const Tensor& dy) {
                  const std::int64_t n = rows.width;
                  Tensor to_x = Tensor::uninitialized(input.shape());
                  Tensor to_weight = Tensor::zeros(normalized_shape);
                  double* weight_sum = to_weight.mutable_data();
                  for_each_norm_row(
                      rows, dy, to_x, [&](std::size_t row, const double* dy_row, double* dx_row) {
                        const double* x_row = input.data() + static_cast<std::int64_t>(row) * n;
                        if (dx) write_dx_row(dy_row, x_row, stats[row], gain.data(), dx_row, n);
                        if (dweight) add_dweight_row(dy_row, x_row, stats[row], weight_sum, n);
                      });
                  if (dx) dx += std::move(to_x);
                  if (dweight) dweight += std::move(to_weight);
                  if (dbias) dbias += sum_to(dy, normalized_shape);
                });
}

}  // namespace normlab
