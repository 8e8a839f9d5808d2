#include "core/ops/linear.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/shape_ops.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

Var with_bias(const Vars& in) { return linear(in[0], in[1], in[2]); }
Var without_bias(const Vars& in) { return linear(in[0], in[1]); }

std::vector<Tensor> inputs(const Shape& x, bool bias, std::int64_t out = 4) {
  std::vector<Tensor> result{random(x, 1), random({out, x[-1]}, 2)};
  if (bias) result.push_back(random({out}, 3));
  return result;
}

const std::vector<Shape> kShapes{{3}, {2, 3}, {1, 3}, {5, 2, 3}, {2, 6, 5, 3}};

}  // namespace

TEST_CASE("linear: gradients agree with differences") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.str());
    check_backward(with_bias, inputs(shape, true));
    check_backward(without_bias, inputs(shape, false));
  }
}

TEST_CASE("linear: equals matmul with the transposed weight and adding the bias") {
  const auto product = [](const Vars& in) {
    if (in[0].value().rank() > 1) return matmul(in[0], in[1], Transpose::no, Transpose::yes);
    return reshape(matmul(reshape(in[0], {1, -1}), in[1], Transpose::no, Transpose::yes), {-1});
  };
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.str());
    check_same(
        with_bias, [&](const Vars& in) { return product(in) + in[2]; }, inputs(shape, true));
    check_same(without_bias, product, inputs(shape, false));
  }
  const Shape large{3, 70, 65};  // beyond what BLAS computes in one block
  check_same(
      with_bias, [&](const Vars& in) { return product(in) + in[2]; }, inputs(large, true, 90));
}

TEST_CASE("linear: one Var as input and weight gets both contributions") {
  check_backward([](const Vars& in) { return linear(in[0], in[0]); }, {random({2, 3})});
}

TEST_CASE("linear: arguments that do not fit are refused") {
  Tape tape;
  const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
  check_refused(
      [&] {
        linear(zeros({2, 3}), zeros({3}));
      },
      "[linear] weight: must be a matrix (out, in), got (3,)");
  check_refused(
      [&] {
        linear(zeros({2, 3}), zeros({3, 4}));
      },
      "[linear] x: must have a last axis of 4, got (2, 3)");
  check_refused(
      [&] {
        linear(zeros({}), zeros({3, 1}));
      },
      "[linear] x: must have a last axis of 1, got ()");
  check_refused(
      [&] {
        linear(zeros({2, 3}), zeros({4, 3}), zeros({3}));
      },
      "[linear] bias: must have shape (4,), got (3,)");
}

TEST_CASE("linear: inputs without elements give zero parameter gradients") {
  check_empty(with_bias, {Tensor::zeros({0, 5, 8}), Tensor::ones({3, 8}), Tensor::ones({3})},
              {0, 5, 3});
  check_empty(without_bias, {Tensor::zeros({4, 0, 8}), Tensor::ones({3, 8})}, {4, 0, 3});
  // Without features only the bias is left.
  const Evaluation y =
      evaluate(with_bias, {Tensor::zeros({2, 0}), Tensor::zeros({3, 0}), Tensor({3}, {1, 2, 3})});
  CHECK(relative_error(y.value, Tensor({2, 3}, {1, 2, 3, 1, 2, 3})) == 0.0);
}

TEST_CASE("linear: NaN stays in its row") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Evaluation y =
      evaluate(without_bias, {Tensor({2, 2}, {1, nan, 3, 4}), Tensor({1, 2}, {1, 1})});
  CHECK(std::isnan(y.value.at({0, 0})));
  CHECK(y.value.at({1, 0}) == 7.0);
}
