#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

// Loops over one contiguous row that several ops share.
namespace normlab {

// Sum of f(0) ... f(n - 1) in eight interleaved partial sums. The compiler may not reorder a plain
// sum, so it could not use SIMD; eight independent sums are an order that we fix, the same on every
// machine.
template <std::invocable<std::int64_t> F>
double lane_sum(std::int64_t n, F f) {
  constexpr std::int64_t kLanes = 8;
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += f(i + lane);
  }
  for (std::int64_t lane = 0; i < n; ++i, ++lane) lanes[lane] += f(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// The largest of n numbers, -infinity for none; NaN if one of them is.
inline double row_max(const double* x, std::int64_t n) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return x[i];
    largest = std::max(largest, x[i]);
  }
  return largest;
}

// y = softmax(x), in place if y == x. The maximum is subtracted first, so that e^0 = 1 is the
// largest term: nothing overflows, and the sum cannot vanish. A row of -infinity only (every key
// masked) has no softmax; it becomes zeros.
inline void softmax_row(const double* x, double* y, std::int64_t n) {
  const double largest = row_max(x, n);
  if (largest == -std::numeric_limits<double>::infinity()) {
    std::fill_n(y, n, 0.0);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - largest);
  const double inverse = 1.0 / lane_sum(n, [y](std::int64_t i) { return y[i]; });
  for (std::int64_t i = 0; i < n; ++i) y[i] *= inverse;
}

// Given y = softmax(x):  dx = y * (dy - <y, dy>), in place if dx == dy.
inline void softmax_row_backward(const double* y, const double* dy, double* dx, std::int64_t n) {
  const double mean = lane_sum(n, [=](std::int64_t i) { return y[i] * dy[i]; });
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - mean);
}

}  // namespace normlab
