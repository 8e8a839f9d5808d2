// C is computed in tiles of 4 x 8 whose sums stay in registers while k runs. From a plain loop the
// compiler does not make that (half the speed), hence the vector type, an extension of GCC and
// Clang; on a machine without AVX they split it.
// Tested by tests/core/kernels/small_matmul_test.cpp.
#include "core/kernels/small_matmul.hpp"

#include <cstddef>
#include <cstring>

namespace normlab {

namespace {

using Vector = double __attribute__((vector_size(32)));
constexpr int kLanes = 4;

struct Strided {
  const double* data;
  std::int64_t row, column;
};

// By reference: GCC warns that passing a vector by value depends on the machine.
void load(const double* from, Vector& v) { std::memcpy(&v, from, sizeof v); }
void store(double* to, const Vector& v) { std::memcpy(to, &v, sizeof v); }

// kRows x (4 kVectors) elements of C.
template <int kRows, int kVectors>
void tile(std::int64_t k, double factor, Strided a, const double* b, std::int64_t b_row, double* c,
          std::int64_t c_row) {
  Vector sums[std::size_t{kRows}][std::size_t{kVectors}] = {};
  for (std::int64_t l = 0; l < k; ++l) {
    Vector from_b[std::size_t{kVectors}];
    for (int j = 0; j < kVectors; ++j) load(b + l * b_row + j * kLanes, from_b[j]);
    for (int i = 0; i < kRows; ++i) {
      const double x = a.data[i * a.row + l * a.column];
      for (int j = 0; j < kVectors; ++j) sums[i][j] += x * from_b[j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors; ++j) store(c + i * c_row + j * kLanes, factor * sums[i][j]);
  }
}

double element(std::int64_t k, const double* a_row, std::int64_t a_column, const double* b,
               std::int64_t b_row) {
  double sum = 0.0;
  for (std::int64_t l = 0; l < k; ++l) sum += a_row[l * a_column] * b[l * b_row];
  return sum;
}

template <int kRows>
void band(std::int64_t n, std::int64_t k, double factor, Strided a, const double* b,
          std::int64_t b_row, double* c, std::int64_t c_row) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    tile<kRows, 2>(k, factor, a, b + j, b_row, c + j, c_row);
  }
  if (j + kLanes <= n) {  // so that heads of width 12 avoid the slow loop below
    tile<kRows, 1>(k, factor, a, b + j, b_row, c + j, c_row);
    j += kLanes;
  }
  for (; j < n; ++j) {
    for (int i = 0; i < kRows; ++i) {
      c[i * c_row + j] = factor * element(k, a.data + i * a.row, a.column, b + j, b_row);
    }
  }
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
