#include "core/ops/elementwise.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct UnaryOp {
  const char* name;
  Var (*function)(const Var&);
  bool positive_only = false;

  Function of_one() const {
    return [f = function](const Vars& in) { return f(in[0]); };
  }
};

const std::vector<UnaryOp> kUnaryOps{
    {"exp", exp}, {"log", log, true}, {"sqrt", sqrt, true}, {"square", square}, {"abs", abs}};

Function power(double exponent) {
  return [exponent](const Vars& in) { return pow(in[0], exponent); };
}

}  // namespace

TEST_CASE("elementwise: values and gradients equal PyTorch's") {
  for (const UnaryOp& op : kUnaryOps) {
    for (const FixtureCase& fixture : load_fixture_cases("ops.json", op.name)) {
      check_fixture(fixture, op.of_one());
    }
  }
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "pow")) {
    check_fixture(fixture, power(fixture.option<double>("exponent")));
  }
}

TEST_CASE("elementwise: gradients agree with differences") {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 3, 4}}) {
    CAPTURE(shape.str());
    for (const UnaryOp& op : kUnaryOps) {
      CAPTURE(op.name);
      check_backward(op.of_one(),
                     {op.positive_only ? random_positive(shape) : random_away_from_zero(shape)});
    }
    for (double exponent : {0.5, -1.5, 1.7})
      check_backward(power(exponent), {random_positive(shape)});
    for (double exponent : {3.0, 2.0, 1.0, -1.0}) {
      CAPTURE(exponent);
      check_backward(power(exponent), {random_away_from_zero(shape, 1, 0.5)});
    }
  }
}

TEST_CASE("elementwise: identities between the ops hold for values and gradients") {
  const Tensor x = random_positive({3, 5});
  const auto same = [&](const Function& f, const Function& g) { check_same(f, g, {x}, 1e-13); };
  same(kUnaryOps[3].of_one(), [](const Vars& in) { return in[0] * in[0]; });
  same(kUnaryOps[2].of_one(), power(0.5));
  same(power(3.0), [](const Vars& in) { return in[0] * in[0] * in[0]; });
  same(power(1.7), [](const Vars& in) { return exp(1.7 * log(in[0])); });
  same(kUnaryOps[4].of_one(), [](const Vars& in) { return sqrt(square(in[0])); });
}

TEST_CASE("elementwise: the norm at zero has gradient 0, not 0 / 0, and so has its square") {
  const Tensor zero = Tensor::zeros({3});
  const Evaluation norm_at_zero =
      evaluate([](const Vars& in) { return sqrt(sum(square(in[0]))); }, {zero});
  CHECK(norm_at_zero.value.item() == 0.0);
  CHECK(relative_error(norm_at_zero.gradients[0], zero) == 0.0);
  const Evaluation squared = evaluate([](const Vars& in) { return sum(square(in[0])); }, {zero});
  CHECK(relative_error(squared.gradients[0], zero) == 0.0);
}

TEST_CASE("elementwise: the derivative of abs at 0 is 0 and x^0 has derivative 0 everywhere") {
  const Tensor x({3}, {-2.0, 0.0, 3.0}), ones = Tensor::ones({3});
  CHECK(relative_error(evaluate(kUnaryOps[4].of_one(), {x}, ones).gradients[0],
                       Tensor({3}, {-1.0, 0.0, 1.0})) == 0.0);
  const Evaluation constant = evaluate(power(0.0), {x}, ones);
  CHECK(relative_error(constant.value, ones) == 0.0);
  CHECK(relative_error(constant.gradients[0], Tensor::zeros({3})) == 0.0);
}

TEST_CASE("elementwise: NaN goes through every op and stays in its element") {
  for (const UnaryOp& op : kUnaryOps) {
    CAPTURE(op.name);
    const Evaluation y = evaluate(op.of_one(), {Tensor({3}, {0.5, kNan, 0.7})});
    CHECK(std::isnan(y.value.at({1})));
    CHECK(std::isfinite(y.value.at({0})));
    CHECK(std::isfinite(y.value.at({2})));
    CHECK(std::isfinite(y.gradients[0].at({0})));
  }
  CHECK(std::isnan(evaluate(power(2.0), {Tensor::scalar(kNan)}).value.item()));
  CHECK(evaluate(power(0.0), {Tensor::scalar(kNan)}).value.item() == 1.0);
}

TEST_CASE("clamp: limits values and passes the gradient inside and at the ends") {
  const Function f = [](const Vars& in) { return clamp(in[0], -1.0, 2.0); };
  const Evaluation y = evaluate(f, {Tensor({6}, {-3, -1, 0.5, 2, 2.5, kNan})}, Tensor::ones({6}));
  CHECK(relative_error(Tensor({5}, y.value.values().first(5)), Tensor({5}, {-1, -1, 0.5, 2, 2})) ==
        0.0);
  CHECK(std::isnan(y.value.at({5})));
  CHECK(relative_error(y.gradients[0], Tensor({6}, {0, 1, 1, 1, 0, 1})) == 0.0);
  for (const Shape& shape : {Shape{5}, Shape{2, 3, 4}}) check_backward(f, {random(shape)});
  check_empty(f, {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2}));
  check_refused([&] { clamp(x, 2.0, 1.0); }, "[clamp] low: must not be above high, got 2 and 1");
}

TEST_CASE("elementwise: erf has the values and the slope of the normal distribution") {
  const Function f = [](const Vars& in) { return erf(in[0]); };
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}}) check_backward(f, {random(shape)});
  check_empty(f, {Tensor::zeros({0, 5})}, {0, 5});
  const Evaluation y = evaluate(f, {Tensor({3}, {0.0, 0.5, -1.0})}, Tensor::ones({3}));
  CHECK(relative_error(y.value, Tensor({3}, {0.0, 0.5204998778130465, -0.8427007929497149})) <=
        1e-15);
  CHECK(relative_error(y.gradients[0], Tensor({3}, {1.1283791670955126, 0.8787825789354448,
                                                    0.41510749742059477})) <= 1e-15);
}

TEST_CASE("elementwise: detach keeps the values and stops the gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {2, 3}));
  const Var fixed = detach(square(x));
  CHECK(fixed.value().at({1}) == 9.0);
  CHECK_FALSE(fixed.needs_grad());
  tape.backward(fixed * x, Tensor::ones({2}));
  CHECK(relative_error(x.grad(), Tensor({2}, {4, 9})) == 0.0);
}

TEST_CASE("elementwise: inputs without elements give outputs without elements") {
  for (const UnaryOp& op : kUnaryOps) {
    check_empty(op.of_one(), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
  }
  check_empty(power(2.0), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
}
