#include "nn/norms/channel_layer_norm.hpp"

#include <doctest/doctest.h>

#include "core/ops/layer_norm.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/norms/layer_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

using Layout = ChannelLayerNorm::Layout;

// The number of groups of elements that share their statistics. Changing one element changes
// exactly the outputs of its group.
std::int64_t statistics(Layer& norm, const Shape& shape) {
  const Tensor x = random(shape), y = evaluate(norm, x);
  Tensor changed = x;
  changed.mutable_data()[0] += 1.0;
  const Tensor z = evaluate(norm, changed);
  std::int64_t group = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) group += y.data()[i] != z.data()[i] ? 1 : 0;
  return x.numel() / group;
}

// Gradients of <f(x), cotangent>: of x, weight and bias.
std::vector<Tensor> gradients(ChannelLayerNorm& norm, const Tensor& x,
                              const std::function<Var(const Var&)>& f) {
  norm.zero_grad();
  const Evaluation result = evaluate([&](const Vars& in) { return f(in[0]); }, {x});
  return {result.value, result.gradients[0], norm.weight.grad, norm.bias.grad};
}

}  // namespace

TEST_CASE("ChannelLayerNorm: channels-first equals permute, LayerNorm, permute back") {
  ChannelLayerNorm norm(3, {.layout = Layout::channels_first});
  randomize_parameters(norm);
  const Tensor x = random({2, 3, 4, 5});
  const auto permuted = [&](const Var& in) {
    Tape& tape = in.tape();
    return permute(layer_norm(permute(in, {0, 2, 3, 1}), {3}, tape.watch(norm.weight),
                              tape.watch(norm.bias), 1e-6),
                   {0, 3, 1, 2});
  };
  const auto got = gradients(norm, x, [&](const Var& in) { return norm.forward(in); });
  const auto expected = gradients(norm, x, permuted);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(relative_error(got[i], expected[i]) <= 1e-14);
  }
}

TEST_CASE("ChannelLayerNorm: channels-last is LayerNorm with ConvNeXt's eps") {
  ChannelLayerNorm norm(3);
  LayerNorm same(3, {.eps = 1e-6}), other(3);
  const Tensor x = random({2, 4, 5, 3});
  CHECK(relative_error(evaluate(norm, x), evaluate(same, x)) == 0.0);
  CHECK(relative_error(evaluate(norm, x), evaluate(other, x)) > 1e-8);
}

TEST_CASE("ChannelLayerNorm: a set of statistics per pixel, LayerNorm([C, H, W]) one") {
  ChannelLayerNorm last(3), first(3, {.layout = Layout::channels_first});
  LayerNorm per_image_last(Shape{2, 2, 3}), per_image_first(Shape{3, 2, 2});
  CHECK(statistics(last, {1, 2, 2, 3}) == 4);
  CHECK(statistics(first, {1, 3, 2, 2}) == 4);
  CHECK(statistics(per_image_last, {1, 2, 2, 3}) == 1);
  CHECK(statistics(per_image_first, {1, 3, 2, 2}) == 1);
  CHECK(statistics(per_image_first, {5, 3, 2, 2}) == 5);
  // With as many columns as channels only the layout option tells the axes apart.
  CHECK(max_abs_difference(evaluate(last, random({1, 3, 2, 3})),
                           evaluate(first, random({1, 3, 2, 3}))) > 0.1);
}

TEST_CASE("ChannelLayerNorm: gradients agree with differences in both layouts") {
  ChannelLayerNorm last(4), first(4, {.layout = Layout::channels_first});
  randomize_parameters(last);
  randomize_parameters(first);
  check_module_gradients(last, random({2, 2, 3, 4}));
  check_module_gradients(first, random({2, 4, 2, 3}));
}

TEST_CASE("ChannelLayerNorm: empty batches, wrong shapes and options") {
  ChannelLayerNorm last(3), first(3, {.layout = Layout::channels_first});
  check_empty_module(last, {0, 4, 5, 3}, {0, 4, 5, 3});
  check_empty_module(first, {0, 3, 4, 5}, {0, 3, 4, 5});
  check_input_refused(
      first, {2, 4, 5, 3},
      "[ChannelLayerNorm] x: must be channels-first, (N, 3, H, W), got (2, 4, 5, 3)");
  check_input_refused(last, {2, 3, 4, 5}, "[layer_norm] x");
  check_refused([] { ChannelLayerNorm(0); }, "[ChannelLayerNorm] channels: must be positive");
  check_refused([] { ChannelLayerNorm(3, {.eps = -1.0}); }, "[ChannelLayerNorm] eps");
}
