// y = weight * xhat,   xhat = x * r,   r = 1 / sqrt(<x^2> + eps)
//
// layer_norm without the centring, and so its backward without the mean of g. With g = dy * weight:
//   dx = r * (g - xhat * <g * xhat>)
//   dweight = sum over rows of dy * xhat
//
// Saved: r, one number per row.
// Tested by tests/core/ops/rms_norm_test.cpp.
#include "core/ops/rms_norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernels/row_kernels.hpp"
#include "core/ops/norm_rows.hpp"

namespace normlab {

namespace {

// Squares that overflow (or vanish) are taken in units of the largest element.
double reciprocal_rms(const double* x, std::int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const double mean_square = lane_sum(n, [=](std::int64_t i) { return x[i] * x[i]; }) / count;
  constexpr double kSmallest = 1e-280, kLargest = 1e280;
  if (mean_square + eps > kSmallest && mean_square < kLargest) {
    return 1.0 / std::sqrt(mean_square + eps);
  }
  double scale = 0.0;
  for (std::int64_t i = 0; i < n; ++i) scale = std::max(scale, std::abs(x[i]));
  if (scale == 0.0) scale = 1.0;
  const double in_units =
      lane_sum(n, [=](std::int64_t i) { return (x[i] / scale) * (x[i] / scale); }) / count;
  return reciprocal_root(in_units, scale, eps);
}

void scale_row(const double* x, double r, const double* weight, double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * r;
  if (weight != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= weight[i];
  }
}

// g = dy * weight is laid into dx first, then turned into dx in place.
void write_dx_row(const double* dy, const double* x, double r, const double* weight, double* dx,
                  std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = weight != nullptr ? dy[i] * weight[i] : dy[i];
  const double mean_g_xhat =
      lane_sum(n, [=](std::int64_t i) { return dx[i] * (x[i] * r); }) / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) dx[i] = r * (dx[i] - x[i] * r * mean_g_xhat);
}

}  // namespace

Var rms_norm(const Var& x, const Shape& normalized_shape, const std::optional<Var>& weight,
             double eps) {
  const NormRows rows = check_norm_rows("rms_norm", x, normalized_shape, weight, std::nullopt, eps);
  const Tensor input = x.value(), gain = weight ? weight->value() : Tensor();
  Tensor y = Tensor::uninitialized(x.shape());
  std::vector<double> reciprocals(static_cast<std::size_t>(rows.count));
  for_each_norm_row(rows, input, y, [&](std::size_t row, const double* x_row, double* y_row) {
    reciprocals[row] = reciprocal_rms(x_row, rows.width, eps);
    scale_row(x_row, reciprocals[row], gain.data(), y_row, rows.width);
  });

  Adjoint dx(x), dweight(weight);
  return record("rms_norm", std::move(y), present(x, weight),
                [=, reciprocals = std::move(reciprocals)](const Tensor& dy) {
                  const std::int64_t n = rows.width;
                  Tensor to_x = Tensor::uninitialized(input.shape());
                  Tensor to_weight = Tensor::zeros(normalized_shape);
                  double* weight_sum = to_weight.mutable_data();
                  for_each_norm_row(
                      rows, dy, to_x, [&](std::size_t row, const double* dy_row, double* dx_row) {
                        const double* x_row = input.data() + static_cast<std::int64_t>(row) * n;
                        const double r = reciprocals[row];
                        if (dx) write_dx_row(dy_row, x_row, r, gain.data(), dx_row, n);
                        if (!dweight) return;
                        for (std::int64_t i = 0; i < n; ++i)
                          weight_sum[i] += dy_row[i] * (x_row[i] * r);
                      });
                  if (dx) dx += std::move(to_x);
                  if (dweight) dweight += std::move(to_weight);
                });
}

}  // namespace normlab
