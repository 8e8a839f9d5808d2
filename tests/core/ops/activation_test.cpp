#include "core/ops/activation.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Activation = Var (*)(const Var&);
using Named = std::vector<std::pair<const char*, Activation>>;
const Named kActivations{{"relu", relu}, {"gelu", gelu},       {"gelu_tanh", gelu_tanh},
                         {"silu", silu}, {"sigmoid", sigmoid}, {"tanh", tanh}};
const Named kUnbounded(kActivations.begin(), kActivations.begin() + 4);

Function of_one(Activation f) {
  return [f](const Vars& in) { return f(in[0]); };
}

double at(Activation f, double x) { return evaluate(of_one(f), {Tensor::scalar(x)}).value.item(); }

double slope(Activation f, double x) {
  return evaluate(of_one(f), {Tensor::scalar(x)}, Tensor::scalar(1.0)).gradients[0].item();
}

}  // namespace

TEST_CASE("activation: values and gradients equal PyTorch's") {
  for (const auto& [name, f] : kActivations) {
    if (std::string(name).starts_with("gelu")) continue;
    for (const FixtureCase& fixture : load_fixture_cases("ops.json", name)) {
      check_fixture(fixture, of_one(f));
    }
  }
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "gelu")) {
    const bool by_tanh = fixture.option<std::string>("approximate") == "tanh";
    check_fixture(fixture, of_one(by_tanh ? gelu_tanh : gelu));
  }
}

TEST_CASE("activation: gradients agree with differences") {
  for (const auto& [case_name, f] : kActivations) {
    const auto& name = case_name;
    CAPTURE(name);
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 3, 4}}) {
      CAPTURE(shape.str());
      check_backward(of_one(f), {random_away_from_zero(shape)});
    }
  }
}

TEST_CASE("activation: every function equals its composition from primitives") {
  const std::vector<Tensor> x{random_away_from_zero({4, 7})};
  check_same(
      of_one(relu), [](const Vars& in) { return 0.5 * (in[0] + abs(in[0])); }, x);
  check_same(
      of_one(silu), [](const Vars& in) { return in[0] * sigmoid(in[0]); }, x);
  check_same(
      of_one(sigmoid), [](const Vars& in) { return pow(1.0 + exp(-in[0]), -1.0); }, x, 1e-13);
  check_same(
      of_one(tanh), [](const Vars& in) { return 2.0 * sigmoid(2.0 * in[0]) - 1.0; }, x, 1e-13);
  check_same(
      of_one(gelu_tanh),
      [](const Vars& in) {
        const Var u = std::sqrt(2.0 / std::numbers::pi) * (in[0] + 0.044715 * pow(in[0], 3.0));
        return 0.5 * in[0] * (1.0 + tanh(u));
      },
      x);
}

TEST_CASE("activation: the exact GELU and its tanh approximation are two functions") {
  CHECK(std::abs(at(gelu, 1.0) - 0.84134475) < 5e-9);
  CHECK(std::abs(at(gelu_tanh, 1.0) - 0.84119199) < 5e-9);
}

TEST_CASE("activation: relu has derivative 0 at 0, of either sign") {
  CHECK(slope(relu, 0.0) == 0.0);
  CHECK(slope(relu, -0.0) == 0.0);
  CHECK(slope(relu, 1e-300) == 1.0);
  CHECK(slope(relu, -1e-300) == 0.0);
}

TEST_CASE("activation: NaN comes out as NaN and never as 0") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [case_name, f] : kActivations) {
    const auto& name = case_name;
    CAPTURE(name);
    const Evaluation y = evaluate(of_one(f), {Tensor({3}, {-1.0, nan, 2.0})});
    CHECK(std::isnan(y.value.at({1})));
    CHECK(std::isfinite(y.value.at({0})));
    CHECK(std::isfinite(y.value.at({2})));
    CHECK(std::isfinite(y.gradients[0].at({2})));
  }
}

TEST_CASE("activation: near the ends of the range every function is x or 0 with slope 1 or 0") {
  for (const auto& [case_name, f] : kUnbounded) {
    const auto& name = case_name;
    CAPTURE(name);
    for (double large : {50.0, 1e100, 1e200, 1e300}) {
      CAPTURE(large);
      CHECK(at(f, large) == large);
      CHECK(std::abs(at(f, -large)) < 1e-20);
      CHECK(std::abs(slope(f, large) - 1.0) <= 1e-15);
      CHECK(std::abs(slope(f, -large)) < 1e-19);
    }
  }
  for (Activation f : {gelu, gelu_tanh, silu}) {
    CHECK(slope(f, 1e-200) == 0.5);
    CHECK(at(f, -1e-200) == -0.5e-200);
  }
}

TEST_CASE("activation: sigmoid and tanh saturate and their gradients stay finite") {
  const Tensor x({4}, {1e200, -1e200, 1e-200, -1e-200}), ones = Tensor::ones({4});
  const Evaluation y_tanh = evaluate(of_one(tanh), {x}, ones);
  CHECK(relative_error(y_tanh.value, Tensor({4}, {1.0, -1.0, 1e-200, -1e-200})) == 0.0);
  CHECK(relative_error(y_tanh.gradients[0], Tensor({4}, {0.0, 0.0, 1.0, 1.0})) == 0.0);
  const Evaluation y_sigmoid = evaluate(of_one(sigmoid), {x}, ones);
  CHECK(relative_error(y_sigmoid.value, Tensor({4}, {1.0, 0.0, 0.5, 0.5})) == 0.0);
  CHECK(relative_error(y_sigmoid.gradients[0], Tensor({4}, {0.0, 0.0, 0.25, 0.25})) == 0.0);
}

TEST_CASE("activation: inputs without elements give outputs without elements") {
  for (const auto& [name, f] : kActivations) {
    check_empty(of_one(f), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
  }
}
