#include "core/ops/reduce.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

struct ReduceOp {
  const char* name;
  Var (*function)(const Var&, const Axes&, bool);

  Function over(const Axes& axes, bool keepdim) const {
    return [f = function, axes, keepdim](const Vars& in) { return f(in[0], axes, keepdim); };
  }
};

const std::vector<ReduceOp> kReduceOps{{"sum", sum}, {"mean", mean}, {"max", max}};

}  // namespace

TEST_CASE("reduce: values and gradients equal PyTorch's") {
  for (const ReduceOp& op : kReduceOps) {
    for (const FixtureCase& fixture : load_fixture_cases("ops.json", op.name)) {
      check_fixture(fixture,
                    op.over(fixture.option<Axes>("axes"), fixture.option<bool>("keepdim")));
    }
  }
}

TEST_CASE("reduce: gradients agree with differences over any axes of any rank") {
  const std::vector<std::pair<Shape, std::vector<Axes>>> cases{
      {{}, {{}}},
      {{3}, {{}, {0}}},
      {{2, 3}, {{}, {0}, {-1}, {1, 0}}},
      {{2, 3, 4}, {{}, {0}, {1}, {2}, {0, 2}, {-2, -1}, {0, 1, 2}}}};
  for (const ReduceOp& op : kReduceOps) {
    CAPTURE(op.name);
    for (const auto& [case_shape, choices] : cases) {
      const auto& shape = case_shape;
      for (const Axes& axes : choices) {
        CAPTURE(shape.str());
        check_backward(op.over(axes, false), {random(shape)});
        check_backward(op.over(axes, true), {random(shape)});
      }
    }
  }
}

TEST_CASE("reduce: no axes means all axes, keepdim keeps extent 1") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 9});
  const auto value = [&](std::size_t op, const Axes& axes, bool keepdim) {
    return evaluate(kReduceOps[op].over(axes, keepdim), {x}).value;
  };
  CHECK(relative_error(value(0, {}, false), Tensor::scalar(24)) == 0.0);
  CHECK(relative_error(value(1, {}, true), Tensor({1, 1}, {4})) == 0.0);
  CHECK(relative_error(value(0, {1}, true), Tensor({2, 1}, {6, 18})) == 0.0);
  CHECK(relative_error(value(2, {0}, false), Tensor({3}, {4, 5, 9})) == 0.0);
}

TEST_CASE("mean: equals the sum over the number of elements") {
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{1, 2}}) {
    check_same(
        kReduceOps[1].over(axes, false),
        [&axes](const Vars& in) {
          const Var total = sum(in[0], axes);
          return total * (static_cast<double>(total.value().numel()) / 24.0);
        },
        {random({2, 3, 4})}, 1e-15);
  }
}

TEST_CASE("max: elements that tie share the gradient equally") {
  const Tensor x({2, 4}, {5, 1, 5, 5, -2, -2, -3, -4});
  const Evaluation y = evaluate(kReduceOps[2].over({1}, false), {x}, Tensor({2}, {6, 10}));
  CHECK(relative_error(y.value, Tensor({2}, {5, -2})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2, 4}, {2, 0, 2, 2, 5, 5, 0, 0})) == 0.0);
}

TEST_CASE("max: a NaN wins over every number and stays in its slice") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Tensor& x :
       {Tensor({2, 3}, {1, nan, 3, 4, 5, 6}), Tensor({2, 3}, {nan, 1, 3, 4, 5, 6}),
        Tensor({2, 3}, {1, 3, nan, 4, 5, 6})}) {
    const Evaluation y = evaluate(kReduceOps[2].over({1}, false), {x}, Tensor({2}, {1, 2}));
    CHECK(std::isnan(y.value.at({0})));
    CHECK(y.value.at({1}) == 6.0);
    CHECK(y.gradients[0].at({1, 2}) == 2.0);
  }
}

TEST_CASE("max: minus infinity is a number like others") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Evaluation y = evaluate(kReduceOps[2].over({}, false),
                                {Tensor({2}, {-infinity, -infinity})}, Tensor::scalar(4));
  CHECK(y.value.item() == -infinity);
  CHECK(relative_error(y.gradients[0], Tensor({2}, {2, 2})) == 0.0);
}

TEST_CASE("reduce: sums of a million terms lose no more digits than short ones") {
  const Tensor x = Tensor::full({1000000}, 0.1);
  const Function total = [](const Vars& in) { return sum(in[0]); };
  const auto is_exact = [](double value) { return std::abs(value / 1e5 - 1.0) <= 1e-15; };
  CHECK(is_exact(evaluate(total, {x}).value.item()));
  CHECK(is_exact(evaluate(total, {x.reshaped({1000, 1000})}).value.item()));
  CHECK(is_exact(evaluate(total, {x.reshaped({500000, 2})}).value.item()));
  const auto along = [](const Axes& axes) {
    return [axes](const Vars& in) { return sum(in[0], axes); };
  };
  CHECK(is_exact(2.0 * evaluate(along({0}), {x.reshaped({500000, 2})}).value.at({1})));
  CHECK(is_exact(2.0 * evaluate(along({1}), {x.reshaped({2, 500000})}).value.at({1})));
  CHECK(is_exact(2.0 * evaluate(along({1}), {x.reshaped({1, 500000, 2})}).value.at({0, 1})));
  CHECK(std::abs(evaluate([](const Vars& in) { return mean(in[0]); }, {x}).value.item() - 0.1) <=
        1e-16);
  Tensor infinite = x;
  infinite.mutable_data()[77] = std::numeric_limits<double>::infinity();
  CHECK(evaluate(total, {infinite}).value.item() == std::numeric_limits<double>::infinity());
}

TEST_CASE("cumsum: running sums along every axis, and gradients against differences") {
  const Function along_0 = [](const Vars& in) { return cumsum(in[0], 0); };
  const Evaluation y = evaluate(along_0, {Tensor({2, 2}, {1, 2, 3, 4})}, Tensor::ones({2, 2}));
  CHECK(relative_error(y.value, Tensor({2, 2}, {1, 2, 4, 6})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2, 2}, {2, 2, 1, 1})) == 0.0);
  for (std::int64_t axis : {0, 1, -1}) {
    const Function f = [axis](const Vars& in) { return cumsum(in[0], axis); };
    check_backward(f, {random({2, 3, 4})});
    check_empty(f, {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
  }
  Tape tape;
  check_refused([&] { cumsum(tape.variable(Tensor::scalar(1)), 0); }, "[cumsum] axis: ");
}

TEST_CASE("reduce: a wrong axis is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3}));
  for (const ReduceOp& op : kReduceOps) {
    const std::string start = std::string("[") + op.name + "] ";
    check_refused([&] { op.function(x, {2}, false); }, start + "axis");
    check_refused([&] { op.function(x, {-3}, false); }, start + "axis");
    check_refused([&] { op.function(x, {0, 0}, false); }, start + "axes: must name an axis once");
    check_refused([&] { op.function(x, {1, -1}, false); }, start + "axes: must name an axis once");
  }
}

TEST_CASE("reduce: sums over no elements are 0 and other reductions are refused") {
  const Tensor empty = Tensor::zeros({0, 5, 8});
  for (const ReduceOp& op : kReduceOps) {
    CAPTURE(op.name);
    check_empty(op.over({1, 2}, false), {empty}, {0});
    check_empty(op.over({1}, true), {empty}, {0, 1, 8});
  }
  check_empty(kReduceOps[0].over({0}, false), {empty}, {5, 8});
  CHECK(relative_error(evaluate(kReduceOps[0].over({0}, false), {empty}).value,
                       Tensor::zeros({5, 8})) == 0.0);
  Tape tape;
  const Var x = tape.variable(empty);
  check_refused([&] { mean(x); }, "[mean] x: must have elements along the reduced axes, got");
  check_refused([&] { max(x, {0}); }, "[max] x: must have elements along the reduced axes, got");
}
