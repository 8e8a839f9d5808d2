// Every combination of sizes up to 20: whole tiles, remainders in either direction, and less than a
// tile.
#include "core/kernels/small_matmul.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "core/kernels/blas.hpp"
#include "core/random.hpp"

namespace normlab {
namespace {

// Room for the largest matrices, with gaps between the rows.
constexpr std::int64_t kLargest = 20, kStride = kLargest + 3;
constexpr double kFactor = -0.75, kUntouched = 123.0;

struct Comparison {
  double error = 0.0;         // largest difference to gemm, over k (the terms are of size 1)
  bool gap_untouched = true;  // nothing was written beyond C's rows and columns
};

Comparison compare(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed,
                   const Tensor& a, const Tensor& b) {
  const auto transpose = a_transposed ? blas::Transpose::yes : blas::Transpose::no;
  Tensor expected = Tensor::zeros({kLargest, kStride});
  blas::gemm(m, n, k, {a.data(), kStride, transpose}, {b.data(), kStride}, expected.mutable_data(),
             kStride);
  Tensor c = Tensor::full({kLargest, kStride}, kUntouched);
  double* got = c.mutable_data();
  for (std::int64_t i = 0; i < m; ++i) {  // the old content must not be read
    std::fill_n(got + i * kStride, n, std::numeric_limits<double>::quiet_NaN());
  }
  small_matmul(m, n, k, kFactor, a.data(), a_transposed ? 1 : kStride, a_transposed ? kStride : 1,
               b.data(), kStride, got, kStride);
  Comparison result;
  for (std::int64_t i = 0; i < kLargest; ++i) {
    for (std::int64_t j = 0; j < kStride; ++j) {
      const double value = got[i * kStride + j];
      if (i >= m || j >= n) {
        result.gap_untouched = result.gap_untouched && value == kUntouched;
        continue;
      }
      const double error = std::abs(value - kFactor * expected.data()[i * kStride + j]);
      if (!(error / static_cast<double>(k) <= result.error)) {  // NaN stays
        result.error = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                         : error / static_cast<double>(k);
      }
    }
  }
  return result;
}

void compare_all_sizes(bool a_transposed) {
  Generator generator(11);
  const Tensor a = generator.rand({kLargest, kStride}), b = generator.rand({kLargest, kStride});
  Comparison worst;
  for (std::int64_t m = 1; m <= kLargest; ++m) {
    for (std::int64_t n = 1; n <= kLargest; ++n) {
      for (std::int64_t k = 1; k <= kLargest; ++k) {
        const Comparison one = compare(m, n, k, a_transposed, a, b);
        worst.error = std::max(worst.error, one.error);
        worst.gap_untouched = worst.gap_untouched && one.gap_untouched;
      }
    }
  }
  CHECK(worst.error <= 1e-15);
  CHECK(worst.gap_untouched);
}

TEST_CASE("small_matmul: equals gemm for all sizes up to 20, with gaps between rows") {
  compare_all_sizes(false);
}

TEST_CASE("small_matmul: equals gemm for all sizes up to 20, A read as a transpose") {
  compare_all_sizes(true);
}

TEST_CASE("small_matmul: NaN in an operand reaches the product") {
  const double a[] = {std::numeric_limits<double>::quiet_NaN(), 1.0}, b[] = {0.0, 1.0};
  double c = 0.0;
  small_matmul(1, 1, 2, 1.0, a, 2, 1, b, 1, &c, 1);
  CHECK(std::isnan(c));
}

}  // namespace
}  // namespace normlab
