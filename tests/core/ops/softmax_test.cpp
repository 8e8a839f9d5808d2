#include "core/ops/softmax.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Function softmax_along(std::int64_t axis) {
  return [axis](const Vars& in) { return softmax(in[0], axis); };
}
Function log_softmax_along(std::int64_t axis) {
  return [axis](const Vars& in) { return log_softmax(in[0], axis); };
}

Var composed_softmax(const Var& x, std::int64_t axis) {
  const Var e = exp(x - max(x, {axis}, true));
  return e / sum(e, {axis}, true);
}
Var composed_log_softmax(const Var& x, std::int64_t axis) {
  const Var shifted = x - max(x, {axis}, true);
  return shifted - log(sum(exp(shifted), {axis}, true));
}

}  // namespace

TEST_CASE("softmax: values and gradients equal PyTorch's along every axis") {
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "softmax")) {
    check_fixture(fixture, softmax_along(fixture.option<std::int64_t>("axis")));
  }
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "log_softmax")) {
    check_fixture(fixture, log_softmax_along(fixture.option<std::int64_t>("axis")));
  }
}

TEST_CASE("softmax: gradients agree with differences") {
  for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{4, 9}, Shape{2, 3, 4}, Shape{2, 17}}) {
    for (std::int64_t axis = -1; axis < shape.rank(); ++axis) {
      CAPTURE(shape.str());
      CAPTURE(axis);
      check_backward(softmax_along(axis), {random(shape)});
      check_backward(log_softmax_along(axis), {random(shape)});
    }
  }
}

TEST_CASE("softmax: equals its composition from primitives") {
  for (const Shape& shape : {Shape{5}, Shape{3, 8}, Shape{2, 3, 41}}) {
    for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
      const std::vector<Tensor> x{random(shape)};
      check_same(
          softmax_along(axis), [axis](const Vars& in) { return composed_softmax(in[0], axis); }, x);
      check_same(
          log_softmax_along(axis),
          [axis](const Vars& in) { return composed_log_softmax(in[0], axis); }, x);
      check_same(
          log_softmax_along(axis), [axis](const Vars& in) { return log(softmax(in[0], axis)); }, x);
    }
  }
}

TEST_CASE("softmax: of a transposed input equals that of its contiguous copy") {
  const Tensor x = random({32, 32});
  const Tensor copy = evaluate([](const Vars& in) { return permute(in[0], {1, 0}); }, {x}).value;
  const auto check = [&](const Function& f) {
    const Tensor dy = random({32, 32}, 5);
    const Evaluation of_view = evaluate(
        [&f](const Vars& in) {
          return f({permute(in[0], {1, 0})});
        },
        {x}, dy);
    const Evaluation of_copy = evaluate(f, {copy}, dy);
    const Tensor gradient_back = evaluate(
                                     [](const Vars& in) {
                                       return permute(in[0], {1, 0});
                                     },
                                     {of_copy.gradients[0]})
                                     .value;
    CHECK(relative_error(of_view.value, of_copy.value) == 0.0);
    CHECK(relative_error(of_view.gradients[0], gradient_back) == 0.0);
  };
  check(softmax_along(-1));
  check(log_softmax_along(-1));
}

TEST_CASE("softmax: very negative and very large rows are as their differences say") {
  for (double offset : {-1e4, 1e4, -1e200, 1e200}) {
    CAPTURE(offset);
    const Tensor x = Tensor::full({2}, offset);
    CHECK(relative_error(evaluate(softmax_along(-1), {x}).value, Tensor({2}, {0.5, 0.5})) == 0.0);
    CHECK(relative_error(evaluate(log_softmax_along(-1), {x}).value,
                         Tensor::full({2}, -std::log(2.0))) <= 1e-15);
  }
  const Tensor far_apart({3}, {1000.0, 0.0, -1000.0}), one_hot({3}, {1.0, 0.0, 0.0});
  const Evaluation y = evaluate(softmax_along(-1), {far_apart});
  CHECK(relative_error(y.value, one_hot) == 0.0);
  CHECK(all_finite(y.gradients[0]));
  const Evaluation log_y = evaluate(log_softmax_along(-1), {far_apart});
  CHECK(relative_error(log_y.value, Tensor({3}, {0.0, -1000.0, -2000.0})) == 0.0);
  CHECK(all_finite(log_y.gradients[0]));
}

TEST_CASE("softmax: a slice of only minus infinity becomes zeros with zero gradient, not NaN") {
  const Tensor x({2, 3}, {-kInfinity, -kInfinity, -kInfinity, 0.0, -kInfinity, 0.0});
  const Evaluation y = evaluate(softmax_along(-1), {x}, Tensor({2, 3}, {1, 2, 3, 1, 2, 3}));
  CHECK(relative_error(y.value, Tensor({2, 3}, {0, 0, 0, 0.5, 0, 0.5})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2, 3}, {0, 0, 0, -0.5, 0, 0.5})) == 0.0);
}

TEST_CASE("softmax: log_softmax of a slice of only minus infinity has zero gradient, not NaN") {
  const Tensor x({2, 2}, {-kInfinity, -kInfinity, -kInfinity, 0.0});
  const Evaluation y = evaluate(log_softmax_along(-1), {x}, Tensor({2, 2}, {1, 2, 3, 4}));
  for (std::int64_t i : {0, 1, 2}) CHECK(y.value.data()[i] == -kInfinity);
  CHECK(y.value.at({1, 1}) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2, 2}, {0, 0, 3, -3})) == 0.0);
}

TEST_CASE("softmax: log_softmax is accurate where one element outweighs the others") {
  const auto first = [](const Tensor& x) {
    return evaluate(log_softmax_along(-1), {x}).value.data()[0];
  };
  CHECK(std::abs(first(Tensor({2}, {40, 0})) / -4.248354255291589e-18 - 1.0) <= 1e-15);
  CHECK(std::abs(first(Tensor({3}, {5, 0, 1})) / -std::log1p(std::exp(-5.0) + std::exp(-4.0)) -
                 1.0) <= 1e-15);
  CHECK(first(Tensor({1}, {3})) == 0.0);
}

TEST_CASE("softmax: the weights of a row of a million equal numbers sum to 1") {
  const std::int64_t n = 1000000;
  const Tensor y = evaluate(softmax_along(-1), {Tensor::zeros({n})}).value;
  CHECK(std::abs(y.at({0}) * static_cast<double>(n) - 1.0) <= 1e-15);
}

TEST_CASE("softmax: NaN fills its own slice and no other") {
  for (const Function& f : {softmax_along(-1), log_softmax_along(-1)}) {
    const Evaluation y = evaluate(f, {Tensor({2, 3}, {1, kNan, 2, 1, 2, 3})});
    for (std::int64_t j = 0; j < 3; ++j) {
      CHECK(std::isnan(y.value.at({0, j})));
      CHECK(std::isfinite(y.value.at({1, j})));
      CHECK(std::isfinite(y.gradients[0].at({1, j})));
    }
  }
}

TEST_CASE("softmax: an axis that x does not have is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3}));
  check_refused([&] { softmax(x, 2); }, "[softmax] axis: ");
  check_refused([&] { log_softmax(x, -3); }, "[log_softmax] axis: ");
  check_refused([&] { softmax(tape.variable(Tensor::scalar(1))); }, "[softmax] axis: ");
}

TEST_CASE("softmax: inputs without elements give outputs without elements") {
  for (std::int64_t axis : {0, 1, 2}) {
    check_empty(softmax_along(axis), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
    check_empty(log_softmax_along(axis), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
    check_empty(softmax_along(axis), {Tensor::zeros({5, 8, 0})}, {5, 8, 0});
  }
}
