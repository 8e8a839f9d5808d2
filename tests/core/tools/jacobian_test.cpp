#include "core/tools/jacobian.hpp"

#include <cmath>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/softmax.hpp"
#include "core/random.hpp"

namespace normlab {
namespace {

TEST_CASE("jacobian: of a linear map is its matrix") {
  Tape tape;
  const Tensor matrix({2, 3}, {1, 2, 3, 4, 5, 6});
  const Var x = tape.variable(Tensor({3, 1}, {7, 8, 9}));
  const Tensor j = jacobian(matmul(tape.constant(matrix), x), x);
  CHECK(j.str() == "(2, 3) 1 2 3 4 5 6");
}

TEST_CASE("jacobian: of an elementwise op is diagonal") {
  Tape tape;
  const Var x = tape.variable(Tensor({2, 2}, {1, 2, 3, 4}));
  CHECK(jacobian(square(x), x).str() == "(4, 4) 2 0 0 0 0 4 0 0 0 0 6 0 0 0 0 8");
}

TEST_CASE("jacobian: of softmax is diag(p) - p p^T") {
  Tape tape;
  const Var x = tape.variable(Tensor({4}, {0.3, -1.2, 2.0, 0.1}));
  const Var p = softmax(x);
  const Tensor j = jacobian(p, x);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 4; ++column) {
      const double p_row = p.value().at({row}), p_column = p.value().at({column});
      const double expected = (row == column ? p_row : 0.0) - p_row * p_column;
      CHECK(std::abs(j.at({row, column}) - expected) <= 1e-15);
    }
  }
}

TEST_CASE("jacobian: with respect to an intermediate value, and to the Var itself") {
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  const Var y = square(x), z = y * y;
  CHECK(jacobian(z, y).str() == "(2, 2) 2 0 0 8");
  CHECK(jacobian(z, x).str() == "(2, 2) 4 0 0 32");
  CHECK(jacobian(z, z).str() == "(2, 2) 1 0 0 1");
}

TEST_CASE("jacobian: of what does not depend on x is zero") {
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {1, 2})), other = tape.variable(Tensor::scalar(3));
  CHECK(jacobian(square(x), other).str() == "(2, 1) 0 0");
}

TEST_CASE("jacobian: of a scalar, and of an empty tensor") {
  Tape tape;
  const Var x = tape.variable(Tensor({3}, {1, 2, 3}));
  CHECK(jacobian(sum(square(x)), x).str() == "(1, 3) 2 4 6");
  const Var empty = tape.variable(Tensor::zeros({0}));
  CHECK(jacobian(square(empty), x).shape() == Shape{0, 3});
  CHECK(jacobian(x, empty).shape() == Shape{3, 0});
}

TEST_CASE("jacobian: changes no gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  jacobian(square(x), x);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("jacobian: of or by a constant is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(1)), c = tape.constant(Tensor::scalar(1));
  CHECK_THROWS_AS(jacobian(c, x), std::logic_error);
  CHECK_THROWS_AS(jacobian(x, c), std::logic_error);
}

TEST_CASE("jacobian: agrees with the numerical one") {
  Generator generator(13);
  const Tensor start = generator.randn({2, 5}), weight = generator.randn({5}),
               bias = generator.randn({5});
  const auto f = [&](const Var& x) {
    Tape& tape = x.tape();
    return tanh(layer_norm(x, {5}, tape.constant(weight), tape.constant(bias)));
  };
  Tape tape;
  const Var x = tape.variable(start);
  const Tensor exact = jacobian(f(x), x);
  const Tensor numerical = numerical_jacobian(
      [&](const Tensor& value) {
        Tape own;
        return f(own.constant(value)).value();
      },
      start);
  CHECK(exact.shape() == Shape{10, 10});
  CHECK(max_abs_difference(exact, numerical) <= 1e-8 * norm(exact));
  CHECK(norm(exact) > 0.1);
}

TEST_CASE("jacobian: the numerical one scales its step with x and leaves x alone") {
  const Tensor x({2}, {1e9, -3});  // a step of 1e-6 would vanish in the rounding of 1e9
  const auto f = [](const Tensor& at) { return Tensor({2}, {2 * at.at({0}), -at.at({1})}); };
  const Tensor j = numerical_jacobian(f, x);
  CHECK(max_abs_difference(j, Tensor({2, 2}, {2, 0, 0, -1})) <= 1e-9);
  CHECK(x.str() == "(2,) 1000000000 -3");
}

}  // namespace
}  // namespace normlab
