// One-sided Jacobi (Hestenes 1958): rotate pairs of columns of A until all are orthogonal to each
// other. Then A V = U S: the columns' lengths are the singular values, and the rotations together
// are V.
//
// Not LAPACK's dgesvd or dgesdd, whose error is relative to the largest singular value: of a 40 x
// 40 matrix whose columns span 8 orders of magnitude, in mixed order, they give the small singular
// values to 5e-10 (16 orders: 2e-3 and no digit), and this to 5e-15.
// Tested by tests/core/tools/svd_test.cpp.
#include "core/tools/svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

// Rows of the transpose are the columns of A: contiguous.
Tensor transposed(const Tensor& a) {
  const std::int64_t m = a.shape()[0], n = a.shape()[1];
  Tensor t = Tensor::uninitialized({n, m});
  double* out = t.mutable_data();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) out[j * m + i] = a.data()[i * n + j];
  }
  return t;
}

Tensor identity(std::int64_t n) {
  Tensor unit = Tensor::zeros({n, n});
  for (std::int64_t i = 0; i < n; ++i) unit.mutable_data()[i * n + i] = 1.0;
  return unit;
}

double dot(const double* x, const double* y, std::int64_t n) {
  return lane_sum(n, [=](std::int64_t i) { return x[i] * y[i]; });
}

void rotate(double* x, double* y, std::int64_t n, double cosine, double sine) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double old = x[i];
    x[i] = cosine * old - sine * y[i];
    y[i] = sine * old + cosine * y[i];
  }
}

// Makes columns p and q orthogonal; false if they are already.
bool orthogonalize(double* p, double* q, std::int64_t m, double* v_p, double* v_q, std::int64_t n) {
  const double pp = dot(p, p, m), qq = dot(q, q, m), pq = dot(p, q, m);
  if (std::abs(pq) <= std::numeric_limits<double>::epsilon() * std::sqrt(pp * qq)) return false;
  const double zeta = (qq - pp) / (2.0 * pq);
  const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1.0 / std::hypot(1.0, tangent), sine = cosine * tangent;
  rotate(p, q, m, cosine, sine);
  rotate(v_p, v_q, n, cosine, sine);
  return true;
}

}  // namespace

Svd svd(const Tensor& matrix) {
  check(matrix.rank() == 2 && all_finite(matrix), "svd", "matrix",
        "must be a matrix of finite numbers", [&] { return matrix.shape().str(); });
  const std::int64_t m = matrix.shape()[0], n = matrix.shape()[1];
  Tensor columns = transposed(matrix), directions = identity(n);
  double* a = columns.mutable_data();
  double* v = directions.mutable_data();
  constexpr int kMostSweeps =
      60;  // about ten are enough; the bound is against rounding that never ends
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < kMostSweeps; ++sweep) {
    rotated = false;
    for (std::int64_t p = 0; p + 1 < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        rotated |= orthogonalize(a + p * m, a + q * m, m, v + p * n, v + q * n, n);
      }
    }
  }
  std::vector<double> lengths;
  for (std::int64_t i = 0; i < n; ++i) lengths.push_back(std::sqrt(dot(a + i * m, a + i * m, m)));
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
  Svd result{{}, Tensor::uninitialized({n, n})};
  double* out = result.directions.mutable_data();
  for (std::size_t i : order) {
    result.values.push_back(lengths[i]);
    out = std::copy_n(v + static_cast<std::int64_t>(i) * n, n, out);
  }
  return result;
}

}  // namespace normlab
