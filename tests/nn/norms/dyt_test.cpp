#include "nn/norms/dyt.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("DyT: the documented formula, element by element") {
  DyT norm(2, 0.25);
  norm.weight.value = Tensor({2}, {2, -3});
  norm.bias.value = Tensor({2}, {0.5, 1});
  const Tensor y = evaluate(norm, Tensor({2, 2}, {1, 2, -3, 400}));
  CHECK(relative_error(y, Tensor({2, 2}, {0.5 + 2 * std::tanh(0.25), 1 - 3 * std::tanh(0.5),
                                          0.5 - 2 * std::tanh(0.75), -2})) <= 1e-15);
}

TEST_CASE("DyT: starts at alpha 0.5, weight 1, bias 0, in this order") {
  DyT norm(3);
  const auto named = norm.named_parameters();
  REQUIRE(named.size() == 3);
  CHECK(named[0].first == "alpha");
  CHECK(relative_error(named[0].second->value, Tensor({1}, {0.5})) == 0.0);
  CHECK(named[1].first == "weight");
  CHECK(relative_error(named[1].second->value, Tensor::ones({3})) == 0.0);
  CHECK(named[2].first == "bias");
  CHECK(relative_error(named[2].second->value, Tensor::zeros({3})) == 0.0);
}

TEST_CASE("DyT: the derivatives in closed form, and against differences") {
  // y = w tanh(a x) + b:  dy/dx = w a (1 - tanh^2),  dy/da = w x (1 - tanh^2).
  DyT norm(1, 0.5);
  norm.weight.value = Tensor({1}, {3});
  const Evaluation result = evaluate([&](const Vars& in) { return norm.forward(in[0]); },
                                     {Tensor({1}, {0.8})}, Tensor::ones({1}));
  const double slope = 1.0 - std::tanh(0.4) * std::tanh(0.4);
  CHECK(relative_error(result.gradients[0], Tensor({1}, {3 * 0.5 * slope})) <= 1e-15);
  CHECK(relative_error(norm.alpha.grad, Tensor({1}, {3 * 0.8 * slope})) <= 1e-15);
  CHECK(relative_error(norm.weight.grad, Tensor({1}, {std::tanh(0.4)})) <= 1e-15);

  DyT wide(5);
  randomize_parameters(wide);
  check_module_gradients(wide, random({2, 3, 5}));
}

TEST_CASE("DyT: an empty batch, wrong widths and options") {
  DyT norm(8);
  check_empty_module(norm, {0, 5, 8}, {0, 5, 8});
  check_input_refused(norm, {2, 1}, "[DyT] x: must have a last axis of 8, got (2, 1)");
  check_refused([] { DyT(0); }, "[DyT] width: must be positive");
  check_refused([] { DyT(3, std::numeric_limits<double>::quiet_NaN()); }, "[DyT] alpha");
}
