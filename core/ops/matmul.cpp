// y = A B:  dA = dy B^T   dB = A^T dy
// With A = a^T stored transposed, da = dA^T = B dy^T; likewise db = dy^T A for a transposed b.
// An operand that was broadcast over the batch gets the sum over the batch.
// Tested by tests/core/ops/matmul_test.cpp.
#include "core/ops/matmul.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

namespace {

Transpose flipped(Transpose transpose) {
  return transpose == Transpose::yes ? Transpose::no : Transpose::yes;
}

struct Operand {
  const Tensor& tensor;
  Transpose transpose;

  std::int64_t rows() const { return tensor.shape()[transpose == Transpose::yes ? -1 : -2]; }
  std::int64_t columns() const { return tensor.shape()[transpose == Transpose::yes ? -2 : -1]; }
  Shape batch() const { return tensor.shape().axes(0, tensor.rank() - 2); }
  blas::Matrix matrix(std::int64_t index) const {
    return {tensor.data() + index * rows() * columns(), tensor.width(), transpose};
  }
};

Shape with_matrix_axes(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> extents = batch.extents();
  extents.push_back(rows);
  extents.push_back(columns);
  return Shape(std::move(extents));
}

// The batch axes are walked as rows of extent-1 "elements": strides then count whole matrices.
Tensor batched_product(const Operand& a, const Operand& b) {
  const std::int64_t m = a.rows(), k = a.columns(), n = b.columns();
  check(b.rows() == k, "matmul", "b", "must have as many rows as a has columns",
        [&] { return fmt::format("({}, {}) times ({}, {})", m, k, b.rows(), n); });
  const Shape batch = broadcast_shapes("matmul", a.batch(), b.batch());
  Tensor y = Tensor::uninitialized(with_matrix_axes(batch, m, n));
  double* out = y.mutable_data();
  if (b.batch().numel() == 1 && a.transpose == Transpose::no && batch == a.batch()) {
    blas::gemm(batch.numel() * m, n, k, a.matrix(0), b.matrix(0), out, n);
    return y;  // one matrix b for the whole batch: its rows stacked are one tall product
  }
  const Shape rows_of_one = with_matrix_axes(batch, 1, 1).axes(0, batch.rank() + 1);
  std::vector<std::int64_t> strides_a = broadcast_strides(a.batch(), batch);
  std::vector<std::int64_t> strides_b = broadcast_strides(b.batch(), batch);
  strides_a.push_back(0);
  strides_b.push_back(0);
  for_each_row(rows_of_one, strides_a, strides_b,
               [&](std::int64_t i, std::int64_t at_a, std::int64_t at_b) {
                 blas::gemm(m, n, k, a.matrix(at_a), b.matrix(at_b), out + i * m * n, n);
               });
  return y;
}

}  // namespace

Var matmul(const Var& a, const Var& b, Transpose a_is, Transpose b_is) {
  check(a.value().rank() >= 2 && b.value().rank() >= 2, "matmul", "operands",
        "must have at least two axes", [&] { return a.shape().str() + " and " + b.shape().str(); });
  Tensor y = batched_product({a.value(), a_is}, {b.value(), b_is});
  Adjoint da(a), db(b);
  return record("matmul", std::move(y), {a, b},
                [da, db, x_a = a.value(), x_b = b.value(), a_is, b_is](const Tensor& dy) {
                  const Operand g{dy, Transpose::no}, g_t{dy, Transpose::yes};
                  if (da) {
                    const Operand b_t{x_b, flipped(b_is)}, b_as_is{x_b, b_is};
                    da += sum_to(a_is == Transpose::yes ? batched_product(b_as_is, g_t)
                                                        : batched_product(g, b_t),
                                 x_a.shape());
                  }
                  if (db) {
                    const Operand a_t{x_a, flipped(a_is)}, a_as_is{x_a, a_is};
                    db += sum_to(b_is == Transpose::yes ? batched_product(g_t, a_as_is)
                                                        : batched_product(a_t, g),
                                 x_b.shape());
                  }
                });
}

}  // namespace normlab
