#include "core/ops/arithmetic.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

struct BinaryOp {
  const char* name;
  Var (*function)(const Var&, const Var&);

  Function of_two() const {
    return [f = function](const Vars& in) { return f(in[0], in[1]); };
  }
};

const std::vector<BinaryOp> kBinaryOps{{"add", add}, {"sub", sub}, {"mul", mul}, {"div", div}};

const std::vector<std::pair<Shape, Shape>> kShapePairs{{{}, {}},
                                                       {{3}, {3}},
                                                       {{}, {3}},
                                                       {{2, 3}, {}},
                                                       {{2, 3}, {3}},
                                                       {{2, 1}, {3}},
                                                       {{2, 3}, {2, 1}},
                                                       {{3}, {4, 3}},
                                                       {{2, 1, 4}, {3, 1}},
                                                       {{2, 3, 4}, {4}},
                                                       {{1, 3, 1}, {2, 1, 4}},
                                                       {{2, 3, 4}, {2, 3, 4}}};

}  // namespace

TEST_CASE("arithmetic: values and gradients equal PyTorch's") {
  for (const BinaryOp& op : kBinaryOps) {
    for (const FixtureCase& fixture : load_fixture_cases("ops.json", op.name)) {
      check_fixture(fixture, op.of_two());
    }
  }
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "neg")) {
    check_fixture(fixture, [](const Vars& in) { return neg(in[0]); });
  }
}

TEST_CASE("arithmetic: gradients agree with differences for every way of broadcasting") {
  for (const BinaryOp& op : kBinaryOps) {
    for (const auto& [case_shape_a, case_shape_b] : kShapePairs) {
      const auto& shape_a = case_shape_a;
      const auto& shape_b = case_shape_b;
      CAPTURE(op.name);
      CAPTURE(shape_a.str());
      CAPTURE(shape_b.str());
      check_backward(op.of_two(), {random(shape_a, 1), random_positive(shape_b, 2)});
    }
  }
}

TEST_CASE("arithmetic: neg, scale and shift, and the operators that stand for them") {
  const std::vector<std::pair<const char*, Function>> functions{
      {"neg", [](const Vars& in) { return -in[0]; }},
      {"scale", [](const Vars& in) { return 3.0 * in[0] * 0.5; }},
      {"divide", [](const Vars& in) { return in[0] / 7.0; }},
      {"shift", [](const Vars& in) { return 1.5 + (in[0] + 2.0); }},
      {"subtract", [](const Vars& in) { return 4.0 - (in[0] - 2.5); }}};
  for (const auto& [case_name, f] : functions) {
    const auto& name = case_name;
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 3, 4}}) {
      CAPTURE(name);
      check_backward(f, {random(shape)});
    }
    check_empty(f, {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
  }
  const Tensor x({3}, {1.0, -2.0, 0.5});
  const auto value = [&](std::size_t i) { return evaluate(functions[i].second, {x}).value; };
  CHECK(relative_error(value(0), Tensor({3}, {-1.0, 2.0, -0.5})) == 0.0);
  CHECK(relative_error(value(1), Tensor({3}, {1.5, -3.0, 0.75})) == 0.0);
  CHECK(relative_error(value(2), Tensor({3}, {1.0 / 7.0, -2.0 / 7.0, 0.5 / 7.0})) <= 1e-15);
  CHECK(relative_error(value(3), Tensor({3}, {4.5, 1.5, 4.0})) == 0.0);
  CHECK(relative_error(value(4), Tensor({3}, {5.5, 8.5, 6.0})) == 0.0);
}

TEST_CASE("arithmetic: the gradient of a broadcast operand has its shape and is summed") {
  const Tensor dy({3, 4}, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400});
  const Tensor columns({4}, {111, 222, 333, 444});
  const auto gradient = [&](const Shape& shape) {
    return evaluate([](const Vars& in) { return in[0] + in[1]; },
                    {Tensor::zeros({3, 4}), Tensor::ones(shape)}, dy)
        .gradients[1];
  };
  CHECK(relative_error(gradient({1, 4}), columns.reshaped({1, 4})) == 0.0);
  CHECK(relative_error(gradient({4}), columns) == 0.0);
  CHECK(relative_error(gradient({3, 1}), Tensor({3, 1}, {10, 100, 1000})) == 0.0);
  CHECK(relative_error(gradient({1, 1}), Tensor({1, 1}, {1110})) == 0.0);
  CHECK(relative_error(gradient({}), Tensor::scalar(1110)) == 0.0);
}

TEST_CASE("arithmetic: one Var on both sides gets both contributions") {
  const Tensor x({3}, {1.0, -2.0, 0.5}), dy({3}, {1.0, 10.0, 100.0});
  const auto gradient = [&](const BinaryOp& op) {
    return evaluate([&op](const Vars& in) { return op.function(in[0], in[0]); }, {x}, dy)
        .gradients[0];
  };
  CHECK(relative_error(gradient(kBinaryOps[0]), Tensor({3}, {2.0, 20.0, 200.0})) == 0.0);
  CHECK(relative_error(gradient(kBinaryOps[1]), Tensor::zeros({3})) == 0.0);
  CHECK(relative_error(gradient(kBinaryOps[2]), Tensor({3}, {2.0, -40.0, 100.0})) == 0.0);
  CHECK(relative_error(gradient(kBinaryOps[3]), Tensor::zeros({3})) == 0.0);
}

TEST_CASE("arithmetic: shapes that do not broadcast are refused") {
  Tape tape;
  const Var a = tape.variable(Tensor::zeros({2, 3})), b = tape.variable(Tensor::zeros({2, 4}));
  for (const BinaryOp& op : kBinaryOps) {
    check_refused([&] { op.function(a, b); },
                  std::string("[") + op.name + "] shapes: must broadcast");
  }
  check_refused([&] { add(a, b); },
                "[add] shapes: must broadcast (aligned at the last axis, equal or 1), got (2, 3) "
                "and (2, 4)");
}

TEST_CASE("arithmetic: a Var over a number is divided, not multiplied by the reciprocal") {
  const auto over = [](double x, double divisor) {
    return evaluate([=](const Vars& in) { return in[0] / divisor; }, {Tensor::scalar(x)},
                    Tensor::scalar(x));
  };
  CHECK(over(5.0, 3.0).value.item() == 5.0 / 3.0);  // 5 * (1 / 3) is the next double
  CHECK(over(5.0, 3.0).gradients[0].item() == 5.0 / 3.0);
  CHECK(over(7e-309, 1e-309).value.item() == 7e-309 / 1e-309);
  CHECK(over(1e-320, 1e-310).value.item() == 1e-320 / 1e-310);  // and not infinite
  CHECK(over(0.0, 1e-310).value.item() == 0.0);                 // and not 0 * infinity
}

TEST_CASE("pow: with a tensor as exponent, values and gradients of both") {
  const Function f = [](const Vars& in) { return pow(in[0], in[1]); };
  const Evaluation y =
      evaluate(f, {Tensor({3}, {2, 3, 0}), Tensor({3}, {3, -1, 2})}, Tensor::ones({3}));
  CHECK(relative_error(y.value, Tensor({3}, {8, 1.0 / 3.0, 0})) <= 1e-15);
  CHECK(relative_error(y.gradients[0], Tensor({3}, {12, -1.0 / 9.0, 0})) <= 1e-15);
  CHECK(relative_error(y.gradients[1], Tensor({3}, {8 * std::log(2.0), std::log(3.0) / 3.0, 0})) <=
        1e-15);
  check_backward(f, {random_positive({2, 3}), random({3}, 2)});
  check_backward(f, {random_positive({3, 1}), random({2, 1, 4}, 2)});
  check_empty(f, {Tensor::ones({0, 5}), Tensor::ones({5})}, {0, 5});
}

TEST_CASE("where: takes a or b by the condition, and reads nothing else") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto f = [](const Tensor& condition) {
    return [condition](const Vars& in) { return where(condition, in[0], in[1]); };
  };
  const Tensor first({2}, {1, 0});
  const Evaluation y =
      evaluate(f(first), {Tensor({2}, {1, nan}), Tensor({2}, {nan, 4})}, Tensor({2}, {5, 6}));
  CHECK(relative_error(y.value, Tensor({2}, {1, 4})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2}, {5, 0})) == 0.0);
  CHECK(relative_error(y.gradients[1], Tensor({2}, {0, 6})) == 0.0);
  check_backward(f(Tensor({2, 1}, {1, 0})), {random({2, 3}, 1), random({3}, 2)});
  check_backward(f(Tensor({2, 1, 1}, {1, 0})), {random({1}, 1), random({3, 2}, 2)});
  check_empty(f(Tensor::ones({5})), {Tensor::ones({0, 5}), Tensor::ones({5})}, {0, 5});
  Tape tape;
  const Var x = tape.variable(Tensor::ones({2}));
  check_refused(
      [&] {
        where(Tensor({2}, {0, 2}), x, x);
      },
      "[where] condition: must hold only 0 and 1, got 2");
  check_refused([&] { where(Tensor::ones({3}), x, x); }, "[where] shapes: must broadcast");
}

TEST_CASE("arithmetic: inputs without elements give outputs without elements") {
  for (const BinaryOp& op : kBinaryOps) {
    CAPTURE(op.name);
    check_empty(op.of_two(), {Tensor::zeros({0, 5, 8}), Tensor::ones({8})}, {0, 5, 8});
    check_empty(op.of_two(), {Tensor::zeros({0, 5, 8}), Tensor::ones({0, 5, 8})}, {0, 5, 8});
    check_empty(op.of_two(), {Tensor::ones({}), Tensor::ones({3, 0})}, {3, 0});
  }
}

TEST_CASE("arithmetic: NaN stays in its element") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const BinaryOp& op : kBinaryOps) {
    CAPTURE(op.name);
    const Evaluation y = evaluate(op.of_two(), {Tensor({3}, {1, nan, 2}), Tensor({3}, {3, 4, 5})});
    CHECK(std::isnan(y.value.at({1})));
    CHECK(std::isfinite(y.value.at({0})));
    CHECK(std::isfinite(y.value.at({2})));
    CHECK(std::isfinite(y.gradients[1].at({2})));
  }
}
