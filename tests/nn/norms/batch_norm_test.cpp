#include "nn/norms/batch_norm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

std::optional<double> read_momentum(const FixtureCase& fixture) {
  if (!fixture.option_is_number("momentum")) return std::nullopt;
  return fixture.option<double>("momentum");
}

BatchNorm::Options make_options(const FixtureCase& fixture) {
  return {.eps = fixture.option<double>("eps"),
          .momentum = read_momentum(fixture),
          .affine = fixture.option<bool>("affine"),
          .track_running_stats = fixture.option<bool>("track_running_stats")};
}

}  // namespace

TEST_CASE("BatchNorm: values, gradients and running statistics are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("channel_norms.json", "batch_norm")) {
    CAPTURE(fixture.name);
    BatchNorm norm(fixture.option<std::int64_t>("num_features"), make_options(fixture));
    const bool ends_in_train = fixture.option<std::string>("mode") == "train";
    check_module_fixture(norm, fixture, [&](const Vars& in) {
      for (std::size_t batch = 0; batch + 1 < in.size(); ++batch) norm.forward(in[batch]);
      norm.train(ends_in_train);
      return norm.forward(in.back());
    });
    if (!fixture.option<bool>("track_running_stats")) continue;
    CHECK(relative_error(norm.running_mean, tensor_of(fixture.output("running_mean"))) <= 1e-12);
    CHECK(relative_error(norm.running_var, tensor_of(fixture.output("running_var"))) <= 1e-12);
    CHECK(norm.num_batches_tracked.item() ==
          fixture.option<std::int64_t>("batches") + (ends_in_train ? 1 : 0));
  }
}

TEST_CASE("BatchNorm: gradients agree with differences, in train and in eval mode") {
  for (const Shape& shape : {Shape{4, 3}, Shape{3, 3, 5}, Shape{2, 3, 2, 3}}) {
    CAPTURE(shape.str());
    BatchNorm norm(3);
    randomize_parameters(norm);
    check_module_gradients(norm, random(shape));
    norm.eval();
    check_module_gradients(norm, random(shape));
  }
}

TEST_CASE("BatchNorm: on (N, C) by hand") {
  // Columns {1, 3} and {10, 30}: mean 2 and 20, biased variance 1 and 100.
  BatchNorm norm(2, {.eps = 0.5});
  const Tensor y = evaluate(norm, Tensor({2, 2}, {1, 10, 3, 30}));
  const double a = 1.0 / std::sqrt(1.5), b = 10.0 / std::sqrt(100.5);
  CHECK(relative_error(y, Tensor({2, 2}, {-a, -b, a, b})) <= 1e-15);
  // A tenth of the way from 0 and 1 to the mean and the unbiased variance, 2 and 200.
  CHECK(relative_error(norm.running_mean, Tensor({2}, {0.2, 2.0})) <= 1e-15);
  CHECK(relative_error(norm.running_var, Tensor({2}, {0.9 + 0.2, 0.9 + 20.0})) <= 1e-15);
  norm.eval();
  const Tensor z = evaluate(norm, Tensor({1, 2}, {1.2, 5.0}));
  CHECK(relative_error(z, Tensor({1, 2}, {1.0 / std::sqrt(1.6), 3.0 / std::sqrt(21.4)})) <= 1e-15);
}

TEST_CASE("BatchNorm: evaluation leaves the running statistics alone") {
  BatchNorm norm(3);
  evaluate(norm, random({4, 3, 5}));
  const Tensor mean = norm.running_mean, variance = norm.running_var;
  norm.eval();
  evaluate(norm, random({4, 3, 5}, 2));
  CHECK(max_abs_difference(norm.running_mean, mean) == 0.0);
  CHECK(max_abs_difference(norm.running_var, variance) == 0.0);
  CHECK(norm.num_batches_tracked.item() == 1);
}

TEST_CASE("BatchNorm: a common offset of 1e8 changes nothing but the rounding of the input") {
  const Tensor offset = map(random({4, 3, 5}), [](double v) { return v + 1e8; });
  const Tensor rounded = map(offset, [](double v) { return v - 1e8; });
  BatchNorm norm(3), same(3);
  CHECK(relative_error(evaluate(norm, offset), evaluate(same, rounded)) <= 1e-7);
  CHECK(relative_error(norm.running_var, same.running_var) <= 1e-7);
}

TEST_CASE("BatchNorm: an empty batch is counted, gives an empty result and moves no statistics") {
  BatchNorm norm(8);
  check_empty_module(norm, {0, 8, 5}, {0, 8, 5});
  CHECK(norm.num_batches_tracked.item() == 1);
  CHECK(max_abs_difference(norm.running_mean, Tensor::zeros({8})) == 0.0);
  CHECK(max_abs_difference(norm.running_var, Tensor::ones({8})) == 0.0);
  norm.eval();
  check_empty_module(norm, {0, 8, 5}, {0, 8, 5});
}

TEST_CASE(
    "BatchNorm: evaluation with no variance divides by zero, with an infinite one gives bias") {
  BatchNorm norm(1, {.eps = 0.0});
  norm.eval();
  norm.running_var = Tensor::zeros({1});
  const Tensor divided = evaluate(norm, Tensor({3, 1}, {0.0, 2.0, -2.0}));
  CHECK(std::isnan(divided.at({0, 0})));
  CHECK(divided.at({1, 0}) == HUGE_VAL);
  CHECK(divided.at({2, 0}) == -HUGE_VAL);

  norm.train();
  evaluate(norm, Tensor({2, 1}, {3e200, -3e200}));
  CHECK(norm.running_var.item() == HUGE_VAL);
  norm.eval();
  norm.bias->value = Tensor({1}, {0.5});
  CHECK(evaluate(norm, Tensor({1, 1}, {7.0})).item() == 0.5);
}

TEST_CASE("BatchNorm: without affine there are no parameters") {
  BatchNorm both(3), neither(3, {.affine = false});
  REQUIRE(both.named_parameters().size() == 2);
  CHECK(relative_error(both.parameter("weight").value, Tensor::ones({3})) == 0.0);
  CHECK(relative_error(both.parameter("bias").value, Tensor::zeros({3})) == 0.0);
  CHECK(neither.parameters().empty());
}

TEST_CASE("BatchNorm: wrong shapes, one value per channel and wrong options are refused") {
  BatchNorm norm(3);
  check_input_refused(norm, {4, 5, 3}, "[BatchNorm] x: must be (N, 3, ...), got (4, 5, 3)");
  check_input_refused(norm, {3}, "[BatchNorm] x: must be (N, 3, ...)");
  check_input_refused(norm, {1, 3, 1},
                      "[BatchNorm] x: must have more than one value per channel in train mode, got "
                      "(1, 3, 1)");
  norm.eval();
  CHECK(evaluate(norm, random({1, 3, 1})).shape() == Shape{1, 3, 1});
  check_refused([] { BatchNorm(3, {.eps = -1.0}); }, "[BatchNorm] eps");
  check_refused([] { BatchNorm(3, {.momentum = 1.5}); }, "[BatchNorm] momentum");
  check_refused([] { BatchNorm(0); }, "[BatchNorm] num_features: must be positive");
}
