// std::erf and std::exp choose between several formulas for each number, so a loop of them is
// neither well predicted nor turned into SIMD code. Here every number takes the same steps,
// starting from the nearest of the points c = k / 32:
//
//   phi(c + h) = phi(c) f(h),   Phi(c + h) = Phi(c) + phi(c) (integral of f from 0 to h),
//   f(h) = e^(-c h - h^2/2)
//
// with phi and Phi at the points from a table and f by its power series. Its terms p_n follow from
// f' = -(c + h) f:
//
//   p_0 = 1,   p_(n+1) = (-c h p_n - h^2 p_(n-1)) / (n + 1)
//
// and the integral's are h p_n / (n + 1). |c h| is at most 9/64, so p_11 is below 1e-17.
// Tested by tests/core/kernels/normal_distribution_test.cpp.
#include "core/kernels/normal_distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace normlab {

namespace {

constexpr double kReach = 9.0, kPerUnit = 32.0;
constexpr int kPoints = static_cast<int>(2.0 * kReach * kPerUnit) + 1;
constexpr int kTerms = 10;  // after p_0

struct Point {
  double cdf, density;
};

std::array<Point, kPoints> make_table() {
  std::array<Point, kPoints> table;
  for (int i = 0; i < kPoints; ++i) {
    const double c = i / kPerUnit - kReach;
    table[static_cast<std::size_t>(i)] = {
        0.5 * std::erfc(-c / std::numbers::sqrt2),
        std::exp(-0.5 * c * c) * std::numbers::inv_sqrtpi / std::numbers::sqrt2};
  }
  table.front() = {0.0, 0.0};  // stands for everything below as well
  table.back() = {1.0, 0.0};
  return table;
}

// Numbers are processed in blocks: the lookup is one loop, and the arithmetic another, in SIMD
// code.
constexpr std::int64_t kBlock = 64;
struct Block {
  double c[kBlock], h[kBlock], cdf[kBlock], density[kBlock];
};

void look_up(const double* x, std::int64_t n, Block& block) {
  static const std::array<Point, kPoints> table = make_table();
  for (std::int64_t i = 0; i < n; ++i) {
    const double inside = std::max(-kReach, std::min(kReach, x[i]));  // a NaN becomes kReach
    const int nearest = static_cast<int>((inside + kReach) * kPerUnit + 0.5);
    const Point& point = table[static_cast<std::size_t>(nearest)];
    block.c[i] = nearest / kPerUnit - kReach;
    block.h[i] = inside - block.c[i];
    block.cdf[i] = point.cdf;
    block.density[i] = point.density;
  }
}

// A recursion of templates, because an inner loop would keep the loop over numbers scalar. The
// division by n is applied to the factors, which do not depend on the previous term.
template <int n>
void add_terms(double a, double b, double p, double before, double& sum, double& integral) {
  if constexpr (n <= kTerms) {
    const double next = (a * (1.0 / n)) * p + (b * (1.0 / n)) * before;
    sum += next;
    integral += next * (1.0 / (n + 1));
    add_terms<n + 1>(a, b, next, p, sum, integral);
  }
}

void expand(const Block& block, double* cdf, double* density, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double h = block.h[i];
    double sum = 1.0, integral = 1.0;
    add_terms<1>(-block.c[i] * h, -h * h, 1.0, 0.0, sum, integral);
    density[i] = block.density[i] * sum;
    cdf[i] = block.cdf[i] + block.density[i] * (h * integral);
  }
}

}  // namespace

void normal_distribution(const double* x, double* cdf, double* density, std::int64_t n) {
  Block block;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t count = std::min(kBlock, n - first);
    look_up(x + first, count, block);
    expand(block, cdf + first, density + first, count);
  }
}

}  // namespace normlab
