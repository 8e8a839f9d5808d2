// C is computed in tiles small enough for the registers: a tile's sums stay there while k runs.
// Tested by tests/core/ops/small_matmul_test.cpp.
#include "core/ops/small_matmul.hpp"

#include <cstddef>

namespace normlab {

namespace {

struct Strided {
  const double* data;
  std::int64_t row, column;
};

template <int kRows, int kColumns>
void tile(std::int64_t k, double factor, Strided a, const double* b, std::int64_t b_row, double* c,
          std::int64_t c_row) {
  double sums[std::size_t{kRows}][std::size_t{kColumns}] = {};
  for (std::int64_t l = 0; l < k; ++l) {
    for (int i = 0; i < kRows; ++i) {
      const double left = a.data[i * a.row + l * a.column];
      for (int j = 0; j < kColumns; ++j) sums[i][j] += left * b[l * b_row + j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) c[i * c_row + j] = factor * sums[i][j];
  }
}

template <int kRows>
void band(std::int64_t n, std::int64_t k, double factor, Strided a, const double* b,
          std::int64_t b_row, double* c, std::int64_t c_row) {
  constexpr int kWide = 8;
  std::int64_t j = 0;
  for (; j + kWide <= n; j += kWide) tile<kRows, kWide>(k, factor, a, b + j, b_row, c + j, c_row);
  for (; j < n; ++j) tile<kRows, 1>(k, factor, a, b + j, b_row, c + j, c_row);
}

}  // namespace

void small_matmul(std::int64_t m, std::int64_t n, std::int64_t k, double factor, const double* a,
                  std::int64_t a_row, std::int64_t a_column, const double* b, std::int64_t b_row,
                  double* c, std::int64_t c_row) {
  constexpr int kTall = 4;
  std::int64_t i = 0;
  for (; i + kTall <= m; i += kTall) {
    band<kTall>(n, k, factor, {a + i * a_row, a_row, a_column}, b, b_row, c + i * c_row, c_row);
  }
  for (; i < m; ++i) {
    band<1>(n, k, factor, {a + i * a_row, a_row, a_column}, b, b_row, c + i * c_row, c_row);
  }
}

}  // namespace normlab
