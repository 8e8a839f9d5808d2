#pragma once

#include <cstdint>

// The only access to BLAS: no other file than blas.cpp includes cblas.h.
//
// Thread rule: any number of threads may call at once, each call on buffers that no other call
// writes. Programs that run configurations in parallel call use_single_thread() first: then results
// are bit-identical whatever other threads do.
namespace normlab::blas {

enum class Transpose : bool { no, yes };

// A matrix in row-major storage, `stride` elements from one row to the next.
struct Matrix {
  const double* data;
  std::int64_t stride;
  Transpose transpose = Transpose::no;
};

// C (m x n) = A (m x k) B (k x n), or C += A B with accumulate. A transposed operand is stored as
// its transpose (k x m, or n x k) and read in place. Without accumulate the old content of C is not
// read, NaN or not. Empty sizes are allowed: k = 0 gives zeros. Throws std::invalid_argument for a
// size or stride of 2^31 or more, which BLAS's integers cannot hold.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, double* c,
          std::int64_t c_stride, bool accumulate = false);

// Makes BLAS compute every product on the calling thread.
void use_single_thread();

}  // namespace normlab::blas
