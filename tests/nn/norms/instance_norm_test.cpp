#include "nn/norms/instance_norm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("InstanceNorm: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("channel_norms.json", "instance_norm")) {
    InstanceNorm norm(
        fixture.option<std::int64_t>("num_features"),
        {.eps = fixture.option<double>("eps"), .affine = fixture.option<bool>("affine")});
    check_module_fixture(norm, fixture, [&](const Vars& in) { return norm.forward(in[0]); });
  }
}

TEST_CASE("InstanceNorm: gradients agree with differences") {
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{2, 3, 2, 3}}) {
    CAPTURE(shape.str());
    InstanceNorm plain(3), affine(3, {.affine = true});
    randomize_parameters(affine);
    check_module_gradients(plain, random(shape));
    check_module_gradients(affine, random(shape));
  }
}

TEST_CASE("InstanceNorm: each channel of each sample by itself, by hand") {
  InstanceNorm norm(2, {.eps = 0.0});
  const Tensor y = evaluate(norm, Tensor({1, 2, 2}, {1, 3, 50, 10}));
  CHECK(relative_error(y, Tensor({1, 2, 2}, {-1, 1, 1, -1})) <= 1e-15);
}

TEST_CASE("InstanceNorm: a common offset of 1e8 changes nothing but the rounding of the input") {
  const Tensor offset = map(random({2, 3, 5}), [](double v) { return v + 1e8; });
  const Tensor rounded = map(offset, [](double v) { return v - 1e8; });
  InstanceNorm norm(3);
  CHECK(relative_error(evaluate(norm, offset), evaluate(norm, rounded)) <= 1e-7);
}

TEST_CASE("InstanceNorm: parameters only with affine, empty batches, wrong shapes") {
  InstanceNorm norm(3), affine(3, {.affine = true});
  CHECK(norm.parameters().empty());
  CHECK(affine.parameters().size() == 2);
  check_empty_module(affine, {0, 3, 5}, {0, 3, 5});
  check_input_refused(
      norm, {2, 3},
      "[InstanceNorm] x: must be (N, 3, L, ...) with at least two positions, got (2, 3)");
  check_input_refused(norm, {2, 3, 1}, "[InstanceNorm] x");
  check_input_refused(norm, {2, 4, 5}, "[InstanceNorm] x");
  check_refused([] { InstanceNorm(0); }, "[InstanceNorm] num_features: must be positive");
  check_refused([] { InstanceNorm(3, {.eps = -1.0}); }, "[InstanceNorm] eps");
}
