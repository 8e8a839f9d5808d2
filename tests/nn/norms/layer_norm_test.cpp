#include "nn/norms/layer_norm.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "nn/layers/linear.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

LayerNorm made_for(const FixtureCase& fixture) {
  return {Shape(fixture.option<std::vector<std::int64_t>>("normalized_shape")),
          {.eps = fixture.option<double>("eps"),
           .elementwise_affine = fixture.option<bool>("elementwise_affine"),
           .bias = fixture.option<bool>("bias")}};
}

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

}  // namespace

TEST_CASE("LayerNorm: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "layer_norm")) {
    LayerNorm norm = made_for(fixture);
    check_module_fixture(norm, fixture, [&](const Vars& in) { return norm.forward(in[0]); });
  }
}

TEST_CASE("LayerNorm: gradients agree with differences") {
  for (const Shape& shape : {Shape{5}, Shape{3, 5}}) {
    for (const LayerNorm::Options& options :
         {LayerNorm::Options{}, LayerNorm::Options{.bias = false}, LayerNorm::Options{.eps = 0.1},
          LayerNorm::Options{.elementwise_affine = false}}) {
      LayerNorm norm(shape, options);
      randomize_parameters(norm);
      check_module_gradients(norm, random({2, 3, 5}));
    }
  }
}

TEST_CASE("LayerNorm: gradients of a layer before it pass through it") {
  class Sequence : public Layer {
   public:
    explicit Sequence(Generator& generator)
        : linear_(register_module("linear", std::make_unique<Linear>(4, 5, generator))),
          norm_(register_module("norm", std::make_unique<LayerNorm>(5))) {}
    Var forward(const Var& x) override { return norm_.forward(linear_.forward(x)); }

   private:
    Linear& linear_;
    LayerNorm& norm_;
  };
  Generator generator(1);
  Sequence sequence(generator);
  randomize_parameters(sequence);
  check_module_gradients(sequence, random({3, 4}));
}

TEST_CASE("LayerNorm: the documented formula, worked out by hand") {
  // {1, 2, 3, 4} has the mean 2.5 and the variance 1.25, by the divisor 4.
  LayerNorm norm(4);
  const double rstd = 1.0 / std::sqrt(1.25 + 1e-5);
  CHECK(relative_error(evaluate(norm, Tensor({4}, {1, 2, 3, 4})),
                       Tensor({4}, {-1.5 * rstd, -0.5 * rstd, 0.5 * rstd, 1.5 * rstd})) <= 1e-15);
  norm.weight->value = Tensor({4}, {2, 2, 2, 2});
  norm.bias->value = Tensor({4}, {1, 0, 0, 1});
  CHECK(relative_error(evaluate(norm, Tensor({4}, {1, 2, 3, 4})),
                       Tensor({4}, {1 - 3 * rstd, -rstd, rstd, 1 + 3 * rstd})) <= 1e-15);
}

TEST_CASE("LayerNorm: weight starts at one and bias at zero, and options leave them out") {
  LayerNorm both(Shape{2, 3});
  REQUIRE(both.named_parameters().size() == 2);
  CHECK(relative_error(both.parameter("weight").value, Tensor::ones({2, 3})) == 0.0);
  CHECK(relative_error(both.parameter("bias").value, Tensor::zeros({2, 3})) == 0.0);
  LayerNorm weight_only(3, {.bias = false});
  CHECK(weight_only.parameters().size() == 1);
  CHECK(weight_only.bias == nullptr);
  LayerNorm neither(3, {.elementwise_affine = false});
  CHECK(neither.parameters().empty());
  CHECK(neither.weight == nullptr);
}

TEST_CASE("LayerNorm: over a single feature the output is the bias and the gradients are zero") {
  LayerNorm norm(1);
  norm.bias->value = Tensor({1}, {0.75});
  CHECK(relative_error(evaluate(norm, random({16, 1})), Tensor::full({16, 1}, 0.75)) == 0.0);
  check_module_gradients(norm, random({16, 1}), {"weight", "x"});
}

TEST_CASE("LayerNorm: the normalized shape decides which elements share statistics") {
  LayerNorm per_token(4), per_sequence(Shape{3, 4});
  CHECK(statistics(per_token, {2, 3, 4}) == 6);
  CHECK(statistics(per_sequence, {2, 3, 4}) == 2);
  // A channels-last image (1, 2, 2, 3): one set per pixel, or one for the image.
  LayerNorm per_pixel(3), per_image(Shape{2, 2, 3});
  CHECK(statistics(per_pixel, {1, 2, 2, 3}) == 4);
  CHECK(statistics(per_image, {1, 2, 2, 3}) == 1);
}

TEST_CASE("LayerNorm: statistics over a token leave the other tokens alone") {
  Tensor x = random({2, 3, 4}), changed = x;
  for (std::int64_t i = 8; i < 12; ++i)
    changed.mutable_data()[i] = 7.0 * static_cast<double>(i * i);
  LayerNorm per_token(4), per_sequence(Shape{3, 4});
  const auto token_0 = [](Layer& norm, const Tensor& in) {
    const Tensor y = evaluate(norm, in);
    return Tensor({4}, y.values().first(4));
  };
  CHECK(max_abs_difference(token_0(per_token, x), token_0(per_token, changed)) == 0.0);
  CHECK(max_abs_difference(token_0(per_sequence, x), token_0(per_sequence, changed)) > 0.1);
}

TEST_CASE(
    "LayerNorm: a channels-first map is refused with a hint, unless its width fits by chance") {
  LayerNorm norm(4);
  check_input_refused(
      norm, {1, 4, 3, 5},
      "[layer_norm] x: must end in the normalized shape (4,) (axis 1 fits: a "
      "channels-first map has to be permuted to channels-last first), got (1, 4, 3, 5)");
  CHECK(statistics(norm, {1, 4, 3, 4}) == 12);  // one per line of the map, not per pixel
}

TEST_CASE("LayerNorm: an input of another width is refused") {
  LayerNorm norm(Shape{3, 4});
  check_input_refused(norm, {2, 4, 3},
                      "[layer_norm] x: must end in the normalized shape (3, 4), got (2, 4, 3)");
  check_input_refused(norm, {4},
                      "[layer_norm] x: must end in the normalized shape (3, 4), got (4,)");
}

TEST_CASE("LayerNorm: an empty batch gives an empty result and zero parameter gradients") {
  LayerNorm norm(8);
  check_empty_module(norm, {0, 5, 8}, {0, 5, 8});
}

TEST_CASE("LayerNorm: a constant row gives the bias with finite gradients, even at eps 0") {
  for (const double eps : {1e-5, 0.0}) {
    CAPTURE(eps);
    LayerNorm norm(4, {.eps = eps});
    norm.bias->value = Tensor({4}, {1, 2, 3, 4});
    for (const double level : {0.0, 5.0}) {
      const Evaluation result = evaluate([&](const Vars& in) { return norm.forward(in[0]); },
                                         {Tensor::full({1, 4}, level)});
      CHECK(relative_error(result.value, Tensor({1, 4}, {1, 2, 3, 4})) == 0.0);
      CHECK(all_finite(result.gradients[0]));
      CHECK(all_finite(norm.weight->grad));
    }
  }
}

TEST_CASE("LayerNorm: eps must be finite and not negative, the shape must hold a feature") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double eps : {-1.0, -1e-30, kNan, std::numeric_limits<double>::infinity()}) {
    CAPTURE(eps);
    check_refused([&] { LayerNorm(4, {.eps = eps}); },
                  "[LayerNorm] eps: must be a finite number of at least 0");
  }
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0}}) {
    check_refused([&] { LayerNorm{shape}; },
                  "[LayerNorm] normalized_shape: must hold at least one feature");
  }
}
