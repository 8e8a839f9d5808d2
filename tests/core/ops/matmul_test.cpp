#include "core/ops/matmul.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

Transpose transposed_if(bool yes) { return yes ? Transpose::yes : Transpose::no; }

Function product(Transpose a_is = Transpose::no, Transpose b_is = Transpose::no) {
  return [a_is, b_is](const Vars& in) { return matmul(in[0], in[1], a_is, b_is); };
}

Shape stored(const Shape& shape, Transpose transpose) {
  if (transpose == Transpose::no) return shape;
  return shape.with_axis(-1, shape[-2]).with_axis(-2, shape[-1]);
}

Var swap_last_axes(const Var& x) {
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < x.value().rank(); ++axis) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(x, order);
}

const std::vector<std::pair<Shape, Shape>> kShapePairs{
    {{1, 1}, {1, 1}},       {{2, 3}, {3, 4}},          {{1, 3}, {3, 4}},
    {{2, 3}, {3, 1}},       {{5, 2, 3}, {3, 4}},       {{2, 3}, {5, 3, 4}},
    {{5, 2, 3}, {5, 3, 4}}, {{6, 1, 2, 3}, {5, 3, 4}}, {{1, 2, 3}, {1, 3, 4}}};

}  // namespace

TEST_CASE("matmul: values and gradients equal PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "matmul")) {
    check_fixture(fixture, product(transposed_if(fixture.option<bool>("transpose_a")),
                                   transposed_if(fixture.option<bool>("transpose_b"))));
  }
}

TEST_CASE("matmul: gradients agree with differences for every batch and transposition") {
  for (const auto& [case_shape_a, case_shape_b] : kShapePairs) {
    const auto& shape_a = case_shape_a;
    const auto& shape_b = case_shape_b;
    for (Transpose a_is : {Transpose::no, Transpose::yes}) {
      for (Transpose b_is : {Transpose::no, Transpose::yes}) {
        CAPTURE(shape_a.str());
        CAPTURE(shape_b.str());
        check_backward(product(a_is, b_is),
                       {random(stored(shape_a, a_is), 1), random(stored(shape_b, b_is), 2)});
      }
    }
  }
}

TEST_CASE("matmul: equals the sum of products and a transposed operand equals a permuted one") {
  for (const auto& [shape_a, shape_b] : kShapePairs) {
    const std::vector<Tensor> inputs{random(shape_a, 1), random(shape_b, 2)};
    check_same(
        product(),
        [](const Vars& in) {
          std::vector<std::int64_t> left = in[0].shape().extents(), right = in[1].shape().extents();
          left.push_back(1);                 // (..., m, k, 1)
          right.insert(right.end() - 2, 1);  // (..., 1, k, n)
          return sum(reshape(in[0], left) * reshape(in[1], right), {-2});
        },
        inputs);
    for (Transpose a_is : {Transpose::no, Transpose::yes}) {
      check_same(
          [a_is](const Vars& in) {
            const Var a = a_is == Transpose::yes ? swap_last_axes(in[0]) : in[0];
            return matmul(a, swap_last_axes(in[1]), a_is, Transpose::yes);
          },
          product(), inputs);
    }
  }
}

TEST_CASE("matmul: a matrix times a batch gets a gradient summed over the batch") {
  const Tensor a = random({10, 12}, 1), b = random({2, 12, 14}, 2), dy = random({2, 10, 14}, 3);
  const Tensor gradient = evaluate(product(), {a, b}, dy).gradients[0];
  CHECK(gradient.shape().str() == "(10, 12)");
  Tensor expected = Tensor::zeros({10, 12});
  for (std::int64_t n = 0; n < 2; ++n) {
    const auto part = [n](const Tensor& x) {
      const Shape matrix = x.shape().axes(1, 3);
      const auto size = static_cast<std::size_t>(matrix.numel());
      return Tensor(matrix, x.values().subspan(static_cast<std::size_t>(n) * size, size));
    };
    expected += evaluate(product(), {a, part(b)}, part(dy)).gradients[0];
  }
  CHECK(relative_error(gradient, expected) <= 1e-14);
}

TEST_CASE("matmul: one Var as both operands gets both contributions") {
  check_backward([](const Vars& in) { return matmul(in[0], in[0]); }, {random({3, 3})});
  check_backward([](const Vars& in) { return matmul(in[0], in[0], Transpose::yes); },
                 {random({2, 3, 4})});
}

TEST_CASE("matmul: operands that do not fit are refused") {
  Tape tape;
  const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
  check_refused(
      [&] {
        matmul(zeros({3}), zeros({3, 4}));
      },
      "[matmul] operands: must have at least two axes, got (3,) and (3, 4)");
  check_refused(
      [&] {
        matmul(zeros({2, 3}), zeros({4, 5}));
      },
      "[matmul] b: must have as many rows as a has columns, got (2, 3) times (4, 5)");
  check_refused(
      [&] {
        matmul(zeros({2, 3}), zeros({3, 4}), Transpose::no, Transpose::yes);
      },
      "[matmul] b: must have as many rows as a has columns, got (2, 3) times (4, 3)");
  check_refused([&] { matmul(zeros({2, 3, 4}), zeros({5, 4, 3})); }, "[matmul] shapes: must");
}

TEST_CASE("matmul: operands without elements give empty products and zero sums") {
  check_empty(product(), {Tensor::zeros({0, 5, 8}), Tensor::ones({8, 3})}, {0, 5, 3});
  check_empty(product(), {Tensor::zeros({0, 8}), Tensor::ones({8, 3})}, {0, 3});
  check_empty(product(), {Tensor::ones({2, 8}), Tensor::zeros({8, 0})}, {2, 0});
  // An empty sum is 0.
  check_empty(product(), {Tensor::zeros({2, 0}), Tensor::zeros({0, 3})}, {2, 3});
  CHECK(relative_error(evaluate(product(), {Tensor::zeros({2, 0}), Tensor::zeros({0, 3})}).value,
                       Tensor::zeros({2, 3})) == 0.0);
}

TEST_CASE("matmul: NaN stays in its row") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Evaluation y =
      evaluate(product(), {Tensor({2, 2}, {1, nan, 3, 4}), Tensor({2, 1}, {1, 1})});
  CHECK(std::isnan(y.value.at({0, 0})));
  CHECK(y.value.at({1, 0}) == 7.0);
}
