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
// machine. Each partial sum is sequential: its rounding error grows like n / 8.
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

// The longest sum that is taken in one piece; rows of ordinary width are.
constexpr std::int64_t kOnePiece = 512;

// f(first) + ... + f(last - 1), cut in halves until a piece has at most 128 terms (pairwise
// summation), so that the rounding error grows like log n.
template <std::invocable<std::int64_t> F>
double pairwise_sum(std::int64_t first, std::int64_t last, const F& f) {
  constexpr std::int64_t kPiece = 128;
  const std::int64_t n = last - first;
  if (n <= kPiece) return lane_sum(n, [&f, first](std::int64_t i) { return f(first + i); });
  const std::int64_t middle = first + (n / kPiece + 1) / 2 * kPiece;
  return pairwise_sum(first, middle, f) + pairwise_sum(middle, last, f);
}

// Sum of f(0) ... f(n - 1), as exact for long rows as for short ones.
template <std::invocable<std::int64_t> F>
double row_sum(std::int64_t n, F f) {
  return n <= kOnePiece ? lane_sum(n, f) : pairwise_sum(0, n, f);
}

// The largest of n numbers, -infinity for none; NaN if any of them is NaN.
inline double row_max(const double* x, std::int64_t n) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return x[i];
    largest = std::max(largest, x[i]);
  }
  return largest;
}

// y = softmax(x), in place if y == x. The maximum is subtracted first, so that e^0 = 1 is the
// largest term: nothing overflows, and the sum cannot vanish. A row of only -infinity (fully
// masked) has no softmax; it becomes zeros.
inline void softmax_row(const double* x, double* y, std::int64_t n) {
  const double largest = row_max(x, n);
  if (largest == -std::numeric_limits<double>::infinity()) {
    std::fill_n(y, n, 0.0);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - largest);
  const double inverse = 1.0 / row_sum(n, [y](std::int64_t i) { return y[i]; });
  for (std::int64_t i = 0; i < n; ++i) y[i] *= inverse;
}

// Given y = softmax(x):  dx = y * (dy - <y, dy>), in place if dx == dy.
inline void softmax_row_backward(const double* y, const double* dy, double* dx, std::int64_t n) {
  const double y_dot_dy = row_sum(n, [=](std::int64_t i) { return y[i] * dy[i]; });
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - y_dot_dy);
}

// ln sum(e^x) - largest, for x whose largest element is `largest` (finite). Where the largest
// element outweighs the others their sum is added up by itself: next to 1 its digits would be lost.
inline double log_sum_exp_row(const double* x, double largest, std::int64_t n) {
  const double sum = row_sum(n, [=](std::int64_t i) { return std::exp(x[i] - largest); });
  constexpr double kOutweighed = 1.0 + 1.0 / 16.0;
  if (!(sum < kOutweighed)) return std::log(sum);
  const std::int64_t top = std::max_element(x, x + n) - x;
  return std::log1p(
      row_sum(n, [=](std::int64_t i) { return i == top ? 0.0 : std::exp(x[i] - largest); }));
}

}  // namespace normlab
