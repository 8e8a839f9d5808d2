#include "nn/norms/normalize_axes.hpp"

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "nn/norms/batch_norm.hpp"
#include "nn/norms/channel_layer_norm.hpp"
#include "nn/norms/group_norm.hpp"
#include "nn/norms/instance_norm.hpp"
#include "nn/norms/layer_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

constexpr double kEps = 1e-3;

Function over(const std::vector<std::int64_t>& axes) {
  return [axes](const Vars& in) { return normalize_axes(in[0], axes, kEps); };
}

Function of(Layer& norm) {
  return [&norm](const Vars& in) { return norm.forward(in[0]); };
}

}  // namespace

TEST_CASE("normalize_axes: any axes, in any order, against primitive ops") {
  const Tensor x = random({2, 3, 4, 5});
  for (const std::vector<std::int64_t>& axes : std::vector<std::vector<std::int64_t>>{
           {0}, {1}, {2}, {3}, {1, 2, 3}, {0, 2, 3}, {2, 3}, {3, 0}, {2, 1}, {0, 1, 2, 3}}) {
    const Function reference = [&](const Vars& in) {
      const Var centred = in[0] - mean(in[0], axes, true);
      return centred / sqrt(mean(square(centred), axes, true) + kEps);
    };
    CAPTURE(axes.size());
    CAPTURE(axes.front());
    check_same(over(axes), reference, {x});
  }
}

TEST_CASE("normalize_axes: layer, batch and instance norm are its axes in the table") {
  const Tensor x = random({4, 3, 2, 5});
  LayerNorm layer(Shape{3, 2, 5}, {.eps = kEps});
  ChannelLayerNorm pixel(3, {.eps = kEps, .layout = ChannelLayerNorm::Layout::channels_first});
  BatchNorm batch(3, {.eps = kEps});
  InstanceNorm instance(3, {.eps = kEps});
  check_same(of(layer), over({1, 2, 3}), {x}, 1e-14);
  check_same(of(pixel), over({1}), {x}, 1e-14);
  check_same(of(batch), over({0, 2, 3}), {x}, 1e-14);
  check_same(of(instance), over({2, 3}), {x}, 1e-14);
}

TEST_CASE(
    "normalize_axes: one group is LayerNorm over (C, ...), a group per channel InstanceNorm") {
  const Tensor x = random({4, 3, 2, 5});
  GroupNorm one_group(1, 3, {.eps = kEps}), group_each(3, 3, {.eps = kEps});
  LayerNorm layer(Shape{3, 2, 5}, {.eps = kEps});
  InstanceNorm instance(3, {.eps = kEps});
  check_same(of(one_group), of(layer), {x}, 1e-14);
  check_same(of(group_each), of(instance), {x}, 1e-14);
  CHECK(relative_error(evaluate(one_group, x), evaluate(group_each, x)) > 0.01);
}

TEST_CASE("normalize_axes: an input without elements") {
  check_empty(over({0, 2}), {Tensor::zeros({0, 8, 5})}, {0, 8, 5});
  check_empty(over({1}), {Tensor::zeros({0, 8, 5})}, {0, 8, 5});
}

TEST_CASE("affine_per_channel: weight and bias belong to axis 1, either may be absent") {
  Parameter weight{"weight", Tensor({2}, {2, 3})}, bias{"bias", Tensor({2}, {10, 20})};
  const Tensor x({1, 2, 2}, {1, 2, 3, 4});
  const auto mapped = [&](Parameter* w, Parameter* b) {
    Tape tape;
    return affine_per_channel(tape.constant(x), w, b).value();
  };
  CHECK(relative_error(mapped(&weight, &bias), Tensor({1, 2, 2}, {12, 14, 29, 32})) == 0.0);
  CHECK(relative_error(mapped(&weight, nullptr), Tensor({1, 2, 2}, {2, 4, 9, 12})) == 0.0);
  CHECK(relative_error(mapped(nullptr, &bias), Tensor({1, 2, 2}, {11, 12, 23, 24})) == 0.0);
  CHECK(relative_error(mapped(nullptr, nullptr), x) == 0.0);
}
