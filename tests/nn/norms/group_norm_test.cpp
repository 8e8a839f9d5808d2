#include "nn/norms/group_norm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("GroupNorm: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("channel_norms.json", "group_norm")) {
    GroupNorm norm(
        fixture.option<std::int64_t>("num_groups"), fixture.option<std::int64_t>("num_channels"),
        {.eps = fixture.option<double>("eps"), .affine = fixture.option<bool>("affine")});
    check_module_fixture(norm, fixture, [&](const Vars& in) { return norm.forward(in[0]); });
  }
}

TEST_CASE("GroupNorm: gradients agree with differences") {
  for (const Shape& shape : {Shape{3, 6}, Shape{2, 6, 3}, Shape{2, 6, 2, 2}}) {
    for (const std::int64_t groups : {1, 2}) {
      CAPTURE(shape.str());
      CAPTURE(groups);
      GroupNorm norm(groups, 6);
      randomize_parameters(norm);
      check_module_gradients(norm, random(shape));
    }
  }
}

TEST_CASE("GroupNorm: groups are neighbouring channels, the affine map is per channel, by hand") {
  // Groups {1, 3} and {10, 30} of four channels.
  GroupNorm norm(2, 4, {.eps = 0.0});
  norm.weight->value = Tensor({4}, {1, 2, 3, 4});
  norm.bias->value = Tensor({4}, {0, 0, 0, 0.5});
  const Tensor y = evaluate(norm, Tensor({1, 4}, {1, 3, 10, 30}));
  CHECK(relative_error(y, Tensor({1, 4}, {-1, 2, -3, 4.5})) <= 1e-15);
}

TEST_CASE("GroupNorm: a common offset of 1e8 changes nothing but the rounding of the input") {
  const Tensor offset = map(random({2, 6, 5}), [](double v) { return v + 1e8; });
  const Tensor rounded = map(offset, [](double v) { return v - 1e8; });
  GroupNorm norm(2, 6);
  CHECK(relative_error(evaluate(norm, offset), evaluate(norm, rounded)) <= 1e-7);
}

TEST_CASE("GroupNorm: parameters only with affine, empty batches, wrong shapes and groups") {
  GroupNorm norm(2, 6), plain(2, 6, {.affine = false});
  CHECK(norm.parameters().size() == 2);
  CHECK(plain.parameters().empty());
  check_empty_module(norm, {0, 6, 5}, {0, 6, 5});
  check_input_refused(norm, {2, 5, 6}, "[GroupNorm] x: must be (N, 6, ...), got (2, 5, 6)");
  check_refused([] { GroupNorm(4, 6); },
                "[GroupNorm] num_groups: must divide the number of channels, got 4 groups of 6 "
                "channels");
  check_refused([] { GroupNorm(0, 6); }, "[GroupNorm] num_groups");
  check_refused([] { GroupNorm(2, 0); }, "[GroupNorm] num_groups");
  check_refused([] { GroupNorm(2, 6, {.eps = -1.0}); }, "[GroupNorm] eps");
}
