#include "core/kernels/blas.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <cblas.h>

#include "core/check.hpp"

namespace normlab::blas {

namespace {

int as_int(std::int64_t size) {
  check(size <= std::numeric_limits<int>::max(), "gemm", "size", "must fit BLAS's 32-bit integers",
        [&] { return std::to_string(size); });
  return static_cast<int>(size);
}

CBLAS_TRANSPOSE as_cblas(Transpose transpose) {
  return transpose == Transpose::yes ? CblasTrans : CblasNoTrans;
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, double* c,
          std::int64_t c_stride, bool accumulate) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // BLAS wants strides of at least 1, and some builds leave C as it was
    if (accumulate) return;
    for (std::int64_t row = 0; row < m; ++row) std::fill_n(c + row * c_stride, n, 0.0);
    return;
  }
  cblas_dgemm(CblasRowMajor, as_cblas(a.transpose), as_cblas(b.transpose), as_int(m), as_int(n),
              as_int(k), 1.0, a.data, as_int(a.stride), b.data, as_int(b.stride),
              accumulate ? 1.0 : 0.0, c, as_int(c_stride));
}

void use_single_thread() { openblas_set_num_threads(1); }

}  // namespace normlab::blas
