#include "nn/layers/linear.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("Linear: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "linear")) {
    Generator generator(1);
    Linear linear(fixture.option<std::int64_t>("in_features"),
                  fixture.option<std::int64_t>("out_features"), generator,
                  {.bias = fixture.option<bool>("bias")});
    check_module_fixture(linear, fixture, [&](const Vars& in) { return linear.forward(in[0]); });
  }
}

TEST_CASE("Linear: gradients agree with differences") {
  for (const bool bias : {true, false}) {
    CAPTURE(bias);
    Generator generator(1);
    Linear linear(5, 3, generator, {.bias = bias});
    CHECK((linear.bias != nullptr) == bias);
    check_module_gradients(linear, random({2, 4, 5}));
    check_module_gradients(linear, random({5}));
  }
}

TEST_CASE("Linear: starts uniform in +-1/sqrt(in_features), the weight drawn before the bias") {
  Generator generator(5), same(5);
  Linear linear(50, 40, generator);
  const double bound = 1.0 / std::sqrt(50.0);
  Tensor weight = Tensor::zeros({40, 50}), bias = Tensor::zeros({40});
  same.fill_uniform(weight.mutable_values(), -bound, bound);
  same.fill_uniform(bias.mutable_values(), -bound, bound);
  CHECK(relative_error(linear.weight.value, weight) <= 1e-14);
  CHECK(relative_error(linear.bias->value, bias) <= 1e-14);
  CHECK(generator.next64() == same.next64());
}

TEST_CASE("Linear: an empty batch gives an empty result and zero parameter gradients") {
  Generator generator(1);
  Linear linear(8, 3, generator);
  check_empty_module(linear, {0, 5, 8}, {0, 5, 3});
}

TEST_CASE("Linear: one layer used twice gets the sum of both gradients, as one parameter") {
  Generator generator(1);
  Linear linear(3, 3, generator);
  const Tensor x = random({2, 3}), r1 = random({2, 3}, 2), r2 = random({2, 3}, 3);
  const auto gradient = [&](const std::function<Var(const Var&)>& loss_of) {
    linear.zero_grad();
    Tape tape;
    const Var loss = loss_of(tape.constant(x));
    tape.backward(loss, Tensor::ones(loss.shape()));
    return linear.weight.grad;
  };
  const auto term = [&](const Var& in, const Tensor& r) {
    return linear.forward(in) * in.tape().constant(r);
  };
  Tensor sum = gradient([&](const Var& in) { return term(in, r1); });
  sum += gradient([&](const Var& in) { return term(in, r2); });
  const Tensor tied = gradient([&](const Var& in) { return term(in, r1) + term(in, r2); });
  CHECK(relative_error(tied, sum) <= 1e-15);
  CHECK(linear.parameters().size() == 2);
}

TEST_CASE("Linear: wrong sizes are refused") {
  Generator generator(1);
  check_refused([&] { Linear(0, 3, generator); }, "[Linear] features: must be positive");
  check_refused([&] { Linear(3, 0, generator); }, "[Linear] features: must be positive");
  Linear linear(5, 3, generator);
  check_input_refused(linear, {2, 4}, "[linear] x: must have a last axis of 5, got (2, 4)");
}
