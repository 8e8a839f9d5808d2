#include "core/kernels/blas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "core/random.hpp"

namespace normlab {
namespace {

using blas::Matrix;
using blas::Transpose;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double element(const Matrix& matrix, std::int64_t row, std::int64_t column) {
  return matrix.transpose == Transpose::yes ? matrix.data[column * matrix.stride + row]
                                            : matrix.data[row * matrix.stride + column];
}

// Largest |C - (A B + before)| over the sum of the magnitudes that were added.
double relative_error(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b,
                      const double* c, std::int64_t c_stride, const double* before = nullptr) {
  double worst = 0.0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = before == nullptr ? 0.0 : before[i * c_stride + j];
      double size = std::abs(sum);
      for (std::int64_t l = 0; l < k; ++l) {
        sum += element(a, i, l) * element(b, l, j);
        size += std::abs(element(a, i, l) * element(b, l, j));
      }
      const double error = std::abs(c[i * c_stride + j] - sum) / size;
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
  }
  return worst;
}

TEST_CASE("blas: gemm equals a triple loop for every transposition, with strides") {
  Generator generator(3);
  constexpr std::array kEither{Transpose::no, Transpose::yes};
  for (const std::array<std::int64_t, 3> size :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 4, 5}, {7, 2, 1}, {1, 9, 6}, {33, 17, 65}}) {
    const std::int64_t m = size[0], n = size[1], k = size[2];
    for (const Transpose a_is : kEither) {
      for (const Transpose b_is : kEither) {
        const std::int64_t a_rows = a_is == Transpose::yes ? k : m, a_stride = m + k - a_rows + 2;
        const std::int64_t b_rows = b_is == Transpose::yes ? n : k, b_stride = n + k - b_rows + 3;
        const Tensor a = generator.randn({a_rows, a_stride}),
                     b = generator.randn({b_rows, b_stride});
        const Matrix left{a.data(), a_stride, a_is}, right{b.data(), b_stride, b_is};
        const std::int64_t c_stride = n + 1;
        const Tensor before = generator.randn({m, c_stride});
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        Tensor c = before;
        blas::gemm(m, n, k, left, right, c.mutable_data(), c_stride);
        CHECK(relative_error(m, n, k, left, right, c.data(), c_stride) <= 1e-14);
        Tensor sum = before;
        blas::gemm(m, n, k, left, right, sum.mutable_data(), c_stride, true);
        CHECK(relative_error(m, n, k, left, right, sum.data(), c_stride, before.data()) <= 1e-14);
        for (std::int64_t row = 0; row < m; ++row) {  // the gap between rows is not C's
          CHECK(c.at({row, n}) == before.at({row, n}));
        }
      }
    }
  }
}

TEST_CASE("blas: without accumulate the old content of C is not read, NaN or not") {
  Generator generator(5);
  for (const std::int64_t size : {1, 2, 5, 16, 40, 130}) {  // small kernels and blocked ones
    CAPTURE(size);
    const Tensor a = generator.randn({size, size}), b = generator.randn({size, size});
    Tensor c = Tensor::full({size, size}, kNaN);
    blas::gemm(size, size, size, {a.data(), size}, {b.data(), size}, c.mutable_data(), size);
    CHECK(all_finite(c));
    CHECK(relative_error(size, size, size, {a.data(), size}, {b.data(), size}, c.data(), size) <=
          1e-13);
  }
}

TEST_CASE("blas: k = 0 gives zeros over NaN, or adds nothing") {
  Tensor c = Tensor::full({2, 3}, kNaN);
  blas::gemm(2, 2, 0, {nullptr, 0}, {nullptr, 2}, c.mutable_data(), 3);
  CHECK(c.at({0, 0}) == 0.0);
  CHECK(c.at({1, 1}) == 0.0);
  CHECK(std::isnan(c.at({0, 2})));  // beyond the row
  Tensor kept({1, 2}, {5, 6});
  blas::gemm(1, 2, 0, {nullptr, 0}, {nullptr, 2}, kept.mutable_data(), 2, true);
  CHECK(kept.str() == "(1, 2) 5 6");
}

TEST_CASE("blas: a product without rows or columns writes nothing") {
  const Tensor a = Tensor::ones({2, 2});
  Tensor c({1}, {7});
  blas::gemm(0, 2, 2, {a.data(), 2}, {a.data(), 2}, c.mutable_data(), 2);
  blas::gemm(2, 0, 2, {a.data(), 2}, {a.data(), 2}, c.mutable_data(), 0);
  CHECK(c.item() == 7);
}

TEST_CASE("blas: NaN in an operand reaches the product") {
  const Tensor a({1, 2}, {kNaN, 1}), b({2, 1}, {0, 1});
  Tensor c = Tensor::zeros({1, 1});
  blas::gemm(1, 1, 2, {a.data(), 2}, {b.data(), 1}, c.mutable_data(), 1);
  CHECK(std::isnan(c.item()));
}

TEST_CASE("blas: a size beyond 32 bits is refused") {
  double c = 0.0;
  CHECK_THROWS_WITH_AS(blas::gemm(1, 1, std::int64_t{1} << 31, {&c, 1}, {&c, 1}, &c, 1),
                       "[gemm] size: must fit BLAS's 32-bit integers, got 2147483648",
                       std::invalid_argument);
}

TEST_CASE("blas: two threads that repeat a product get the bits of a serial run") {
  blas::use_single_thread();
  constexpr std::int64_t kSize = 96;
  Generator generator(8);
  const Tensor a = generator.randn({kSize, kSize}), b = generator.randn({kSize, kSize});
  const auto product = [&] {
    Tensor c = Tensor::uninitialized({kSize, kSize});
    blas::gemm(kSize, kSize, kSize, {a.data(), kSize}, {b.data(), kSize, Transpose::yes},
               c.mutable_data(), kSize);
    return c;
  };
  const Tensor serial = product();
  std::array<int, 2> different{};
  std::vector<std::thread> threads;
  for (int& count : different) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        const Tensor c = product();
        if (!std::equal(c.values().begin(), c.values().end(), serial.values().begin())) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(different[0] == 0);
  CHECK(different[1] == 0);
}

}  // namespace
}  // namespace normlab
