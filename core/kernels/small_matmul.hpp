#pragma once

#include <cstdint>

namespace normlab {

// C (m x n) = factor * A B for matrices of a few dozen rows, where the set-up of a BLAS call costs
// as much as the product. A (m x k) is read with any two strides, so it may be a transpose; the
// rows of B (k x n) and C are contiguous, b_row and c_row elements apart. Overwrites C.
void small_matmul(std::int64_t m, std::int64_t n, std::int64_t k, double factor, const double* a,
                  std::int64_t a_row, std::int64_t a_column, const double* b, std::int64_t b_row,
                  double* c, std::int64_t c_row);

}  // namespace normlab
