// y = x W^T + b over the rows of x:
//   dx = dy W     dW = dy^T x     db = sum of dy over rows
// One product for all rows; the bias is copied into y first and the product added to it, which
// saves a pass over y. Tested by tests/core/ops/linear_test.cpp.
#include "core/ops/linear.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/kernels/blas.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

namespace {

Tensor product_plus_bias(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::int64_t rows = x.rows(), in = weight.shape()[1], out = weight.shape()[0];
  Tensor y = Tensor::uninitialized(x.shape().with_axis(-1, out));
  double* to = y.mutable_data();
  if (bias.defined()) {
    for (std::int64_t row = 0; row < rows; ++row) std::copy_n(bias.data(), out, to + row * out);
  }
  blas::gemm(rows, out, in, {x.data(), in}, {weight.data(), in, blas::Transpose::yes}, to, out,
             bias.defined());
  return y;
}

}  // namespace

Var linear(const Var& x, const Var& weight, const std::optional<Var>& bias) {
  check(weight.value().rank() == 2, "linear", "weight", "must be a matrix (out, in)",
        [&] { return weight.shape().str(); });
  const std::int64_t out = weight.shape()[0], in = weight.shape()[1];
  check(x.value().rank() >= 1 && x.value().width() == in, "linear", "x",
        "must have a last axis of " + std::to_string(in), [&] { return x.shape().str(); });
  if (bias) check_shape("linear", "bias", bias->shape(), {out});

  Tensor y = product_plus_bias(x.value(), weight.value(), bias ? bias->value() : Tensor());
  std::vector<Var> inputs{x, weight};
  if (bias) inputs.push_back(*bias);
  Adjoint dx(x), dweight(weight), dbias(bias);
  return record(
      "linear", std::move(y), inputs, [=, value = x.value(), w = weight.value()](const Tensor& dy) {
        const std::int64_t rows = dy.rows();
        if (dx) {
          Tensor g = Tensor::uninitialized(value.shape());
          blas::gemm(rows, in, out, {dy.data(), out}, {w.data(), in}, g.mutable_data(), in);
          dx += std::move(g);
        }
        if (dweight) {
          Tensor g = Tensor::uninitialized(w.shape());
          blas::gemm(out, in, rows, {dy.data(), out, blas::Transpose::yes}, {value.data(), in},
                     g.mutable_data(), in);
          dweight += std::move(g);
        }
        if (dbias) dbias += sum_to(dy, {out});
      });
}

}  // namespace normlab
