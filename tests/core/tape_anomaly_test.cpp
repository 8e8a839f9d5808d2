#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "core/tape.hpp"

namespace normlab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE(
    "anomaly: the first op whose output is not finite is named with index, shape and inputs") {
  Tape tape;
  tape.detect_anomaly(true);
  Parameter w{"w", Tensor({2}, {1, 0})};
  const Var x = tape.variable(Tensor({3, 1}, {1, 2, 3}));
  const Var y = x * tape.watch(w);
  CHECK_THROWS_WITH_AS(log(y),
                       "[anomaly] #3 log (3, 2): the output holds -inf; inputs: #2 mul (3, 2)",
                       std::runtime_error);
  CHECK_THROWS_WITH_AS(
      div(x, tape.watch(w)),
      "[anomaly] #3 div (3, 2): the output holds inf; inputs: #0 variable (3, 1), #1 parameter w "
      "(2,)",
      std::runtime_error);
  CHECK(tape.size() == 3);  // what failed was not recorded
}

TEST_CASE("anomaly: NaN in a leaf is blamed on the leaf") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor({2}, {1, kNaN})), c = tape.constant(Tensor::ones({2}));
  CHECK_THROWS_WITH_AS(x * c,
                       "[anomaly] #1 mul (2,): the output holds nan; inputs: #0 variable (2,) "
                       "(itself not finite), constant (2,)",
                       std::runtime_error);
  const Var bad = tape.constant(Tensor({2}, {kNaN, 0}));
  CHECK_THROWS_WITH_AS(square(bad),
                       "[anomaly] #1 square (2,): the output holds nan; inputs: constant (2,) "
                       "(itself not finite)",
                       std::runtime_error);
}

TEST_CASE("anomaly: a gradient that is not finite is blamed on the op that made it") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor({2}, {4, 0}));
  const Var loss = sum(pow(x * 1.0, 0.5)) * 3.0;  // finite, with an infinite slope at 0
  CHECK(loss.value().item() == 6);
  CHECK_THROWS_WITH_AS(
      tape.backward(loss),
      "[anomaly] backward of #2 pow (2,): the gradient of its input #1 scale (2,) holds inf",
      std::runtime_error);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("anomaly: the first of several bad gradients is named") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor::scalar(0));
  const Var first = pow(x, 0.25), second = pow(first, 0.5);
  CHECK_THROWS_WITH_AS(
      tape.backward(second),
      "[anomaly] backward of #2 pow (): the gradient of its input #1 pow () holds inf",
      std::runtime_error);
}

TEST_CASE("anomaly: a seed that is not finite is blamed on the seed") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var y = square(tape.variable(Tensor::scalar(2)));
  CHECK_THROWS_WITH_AS(tape.backward(y, Tensor::scalar(kNaN)),
                       "[anomaly] backward: the seed holds nan", std::runtime_error);
}

TEST_CASE("anomaly: works under NoGrad") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor::scalar(-1));
  const Tape::NoGrad no_grad(tape);
  CHECK_THROWS_WITH_AS(sqrt(x), doctest::Contains("[anomaly] #1 sqrt (): the output holds"),
                       std::runtime_error);
}

TEST_CASE("anomaly: off, nothing is thrown and NaN reaches the gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(kNaN));
  const Var y = square(x);
  CHECK_FALSE(all_finite(y.value()));
  tape.backward(y);
  CHECK_FALSE(all_finite(x.grad()));
}

TEST_CASE("anomaly: on, finite values and gradients pass") {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  tape.backward(sum(log(x)));
  CHECK(x.grad().str() == "(2,) 1 0.5");
}

}  // namespace
}  // namespace normlab
