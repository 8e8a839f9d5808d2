#include "experiments/theory/mean_field_theory.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include "experiments/theory/mean_field_kernels.hpp"
#include "tests/support/fixtures.hpp"

using namespace normlab;

namespace {

constexpr Placement kDerived[] = {Placement::post, Placement::pre, Placement::res_post};

bool close(double got, double expected, double tolerance = 1e-13) {
  return std::abs(got - expected) <= tolerance * std::abs(expected);
}

Placement placement_of(const std::string& name) {
  for (Placement placement : kDerived) {
    if (normlab::name(placement) == name) return placement;
  }
  throw std::runtime_error("no such placement: " + name);
}

PairMoments moments_of(const FixtureTensor& tensor, std::size_t row = 0) {
  return {tensor.data[3 * row], tensor.data[3 * row + 1], tensor.data[3 * row + 2]};
}

void check_list(const FixtureCase& fixture, const std::string& key,
                const std::vector<double>& got) {
  const std::vector<double>& expected = fixture.output(key).data;
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK_MESSAGE(close(got[i], expected[i], 1e-11), fixture.name, ", ", key, " ", i, ": ", got[i],
                  " for ", expected[i]);
  }
}

}  // namespace

TEST_CASE("mean_field_theory: three kinds of pairs give what all pairs of tokens give") {
  for (const FixtureCase& fixture : load_fixture_cases("mean_field.json", "recursion")) {
    CAPTURE(fixture.name);
    const MeanFieldSetting setting{
        .placement = placement_of(fixture.option<std::string>("placement")),
        .layers = fixture.option<std::int64_t>("layers"),
        .width = fixture.option<std::int64_t>("width"),
        .ffn = fixture.option<std::int64_t>("ffn"),
        .tokens = fixture.option<std::int64_t>("tokens"),
        .sequences = fixture.option<std::int64_t>("sequences"),
        .input = moments_of(fixture.input("input")),
        .value_gain = fixture.option<double>("value_gain"),
        .output_gain = fixture.option<double>("output_gain")};
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    std::vector<double> after_attention, after_ffn;
    for (const BlockMoments& block : blocks) {
      for (double PairMoments::*kind :
           {&PairMoments::same, &PairMoments::within, &PairMoments::across}) {
        const bool there = kind != &PairMoments::across || setting.sequences > 1;
        after_attention.push_back(there ? block.after_attention.*kind : 0.0);
        after_ffn.push_back(there ? block.after_ffn.*kind : 0.0);
      }
    }
    check_list(fixture, "after_attention", after_attention);
    check_list(fixture, "after_ffn", after_ffn);
    const SquaredNorms norms =
        expected_gradients(setting, blocks, moments_of(fixture.input("output_gradient")));
    check_list(fixture, "w1", norms.w1);
    check_list(fixture, "w2", norms.w2);
    check_list(fixture, "wv", norms.wv);
  }
}

TEST_CASE("mean_field_theory: one post-norm block of two tokens, by hand") {
  // d = ffn = 8, so every gain is that of the paper: 1 for attention, 1/2 for the ffn, and a hidden
  // layer of |h|^2 = 4. Two unrelated tokens: their mean has |.|^2 / d = 1/2, which both receive.
  const MeanFieldSetting setting{
      .placement = Placement::post, .layers = 1, .width = 8, .ffn = 8, .tokens = 2, .sequences = 1};
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  CHECK(close(blocks[0].after_attention.same, 1.5));
  CHECK(close(blocks[0].after_attention.within, 0.5));
  const double c = 1.0 / 3.0;  // after the first norm
  const double gate = 1.0 - std::acos(c) / std::numbers::pi;
  const double value = std::sqrt(8.0) / 3.0 / std::numbers::pi + c * gate;
  CHECK(close(blocks[0].after_ffn.same, 1.5));
  CHECK(close(blocks[0].after_ffn.within, c + 0.5 * value));

  // Backward from g = 3, r = 1.5 at the output; the second norm leaves 2 and 1. Two tokens: the
  // squared norm of a sum of outer products is 2 (same * same + within * within).
  const SquaredNorms norms = expected_gradients(setting, blocks, {3.0, 1.5, 0.0});
  CHECK(close(norms.w2[0], 2.0 * (4.0 * 2.0 + 4.0 * value * 1.0)));
  // W2 and the gates leave 1/2 of them: the input has |.|^2 = 8 and 8 c.
  CHECK(close(norms.w1[0], 2.0 * (8.0 * 1.0 + 8.0 * c * 0.5 * gate)));
  // Through ffn and first norm: g (1 + 1/2) / 1.5 and r (1 + gate / 2) / 1.5. Attention read the
  // mean token, |.|^2 = 4 for both.
  const double g = 2.0, r = (1.0 + 0.5 * gate) / 1.5;
  CHECK(close(norms.wv[0], 2.0 * 4.0 * (g + r)));
}

TEST_CASE("mean_field_theory: tokens all alike stay so, and meet Lemma 2's upper limit") {
  for (Placement placement : kDerived) {
    const MeanFieldSetting setting{.placement = placement, .input = {1.0, 1.0, 1.0}};
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      const double depth = static_cast<double>(l) + 1.0;
      CHECK(close(blocks[l].after_ffn.within, blocks[l].after_ffn.same));
      CHECK(close(blocks[l].after_ffn.across, blocks[l].after_ffn.same));
      CHECK(close(blocks[l].after_ffn.same, placement == Placement::post  ? 1.5
                                            : placement == Placement::pre ? 1.0 + 1.5 * depth
                                                                          : 1.0 + 2.0 * depth));
    }
  }
}

TEST_CASE("mean_field_theory: pre-norm with tokens all alike has |dW2|^2 ~ 1 / stream, any depth") {
  // What the last norm divides the gradient by, the blocks above give back one after the other.
  for (std::int64_t layers : {1, 3, 12}) {
    const MeanFieldSetting setting{
        .placement = Placement::pre, .layers = layers, .input = {1.0, 1.0, 1.0}};
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    const SquaredNorms norms = expected_gradients(setting, blocks, {1.0, 1.0, 1.0});
    const double all = static_cast<double>(setting.tokens * setting.sequences);
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      CHECK(close(norms.w2[l] * blocks[l].after_ffn.same, 0.5 * 256.0 * all * all));
    }
  }
}

TEST_CASE("mean_field_theory: post-norm with tokens all alike gives all layers one gradient") {
  const MeanFieldSetting setting{.placement = Placement::post, .input = {1.0, 1.0, 1.0}};
  const SquaredNorms norms = expected_gradients(setting, forward_moments(setting), {1.0, 1.0, 1.0});
  for (std::size_t l = 0; l < norms.w2.size(); ++l) {
    CHECK(close(norms.w2[l], norms.w2[0]));
    CHECK(close(norms.wv[l], norms.wv[0]));
  }
}

TEST_CASE("mean_field_theory: gradients of unrelated tokens obey the clean form of Theorem 1") {
  // No correlation of the gradients: the last W2 sees |h|^2 g / (what the last norm divides by).
  for (std::int64_t layers : {1, 6, 24}) {
    CAPTURE(layers);
    MeanFieldSetting setting{.placement = Placement::post, .layers = layers};
    const auto last = [&] {
      return expected_gradients(setting, forward_moments(setting), {1.0, 0.0, 0.0}).w2.back();
    };
    CHECK(close(last(), 128.0 * 128.0 / 1.5));
    setting.placement = Placement::pre;
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    const double stream = output_moments(setting, blocks).same;
    CHECK(close(last(), 128.0 * 128.0 / stream));
    CHECK(stream > 1.0 + 0.5 * static_cast<double>(layers));
    CHECK(stream < 1.0 + 1.5 * static_cast<double>(layers));
  }
}

TEST_CASE("mean_field_theory: with one token a sequence, pairs within a sequence do not matter") {
  for (Placement placement : kDerived) {
    MeanFieldSetting setting{.placement = placement, .layers = 3, .tokens = 1, .sequences = 4};
    setting.input = {1.0, 0.0, 0.1};
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    const SquaredNorms norms = expected_gradients(setting, blocks, {1.0, 0.0, 0.2});
    setting.input.within = 0.7;
    const std::vector<BlockMoments> other = forward_moments(setting);
    const SquaredNorms other_norms = expected_gradients(setting, other, {1.0, 0.9, 0.2});
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      CHECK(blocks[l].after_ffn.same == other[l].after_ffn.same);
      CHECK(blocks[l].after_ffn.across == other[l].after_ffn.across);
      CHECK(norms.w1[l] == other_norms.w1[l]);
      CHECK(norms.w2[l] == other_norms.w2[l]);
      CHECK(norms.wv[l] == other_norms.wv[l]);
    }
    // The mean over one token is the token itself: attention adds all of it.
    if (placement == Placement::pre) CHECK(close(blocks[0].after_attention.same, 2.0));
  }
}

TEST_CASE("mean_field_theory: many tokens average what they do not share away") {
  MeanFieldSetting setting{.placement = Placement::pre, .layers = 6};
  setting.tokens = 1'000'000'000;
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  CHECK(close(blocks[0].after_attention.same, 1.0, 2e-9));
  // In the limit attention adds the covariance alone.
  PairMoments x = setting.input;
  for (const BlockMoments& block : blocks) {
    const double c = x.within / x.same;
    const double q = x.same + c, p = x.within + c;
    x.same = q + 0.5;
    x.within = p + 0.5 * relu_value_kernel(p / q);
    CHECK(close(block.after_ffn.same, x.same, 1e-8));
    CHECK(close(block.after_ffn.within, x.within, 1e-8));
  }
}

TEST_CASE("output_gradient: labels of a sequence's own add coherently, those of tokens do not") {
  MeanFieldSetting setting{.layers = 2, .width = 64, .ffn = 64, .classes = 5};
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  const PairMoments own = output_gradient(setting, blocks);
  setting.one_label_per_sequence = true;
  const PairMoments shared = output_gradient(setting, blocks);
  CHECK(own.same == shared.same);
  CHECK(own.across == shared.across);
  const double variance = 128.0 / 69.0, all = 128.0;
  CHECK(close(shared.within - own.within, variance / (all * all) * 0.8));
  CHECK(close(own.same, variance / (all * all) * (softmax_overlap(1.0, variance, 5) + 0.6)));
}

TEST_CASE("output_gradient: one class leaves nothing to learn") {
  MeanFieldSetting setting{.layers = 1, .classes = 1};
  const PairMoments gradient = output_gradient(setting, forward_moments(setting));
  CHECK(std::abs(gradient.same) < 1e-10);
  CHECK(std::abs(gradient.across) < 1e-10);
}

TEST_CASE("mean_field_theory: what is not derived is refused") {
  CHECK_THROWS_WITH_AS(forward_moments({.placement = Placement::sandwich}),
                       doctest::Contains("must be post, pre or res-post, got sandwich"),
                       std::invalid_argument);
  CHECK_THROWS_AS(forward_moments({.layers = 0}), std::invalid_argument);
  CHECK_THROWS_AS(forward_moments({.input = {0.0, 0.0, 0.0}}), std::invalid_argument);
}

TEST_CASE("relu kernels: known angles") {
  constexpr double kPi = std::numbers::pi;
  CHECK(relu_gate_kernel(1.0) == 1.0);
  CHECK(relu_gate_kernel(-1.0) == 0.0);
  CHECK(close(relu_gate_kernel(0.0), 0.5));
  CHECK(close(relu_gate_kernel(0.5), 2.0 / 3.0));  // 60 degrees of 180 apart
  CHECK(relu_value_kernel(1.0) == 1.0);
  CHECK(std::abs(relu_value_kernel(-1.0)) < 1e-15);
  CHECK(close(relu_value_kernel(0.0), 1.0 / kPi));
  CHECK(close(relu_value_kernel(0.5), std::sqrt(3.0) / 2.0 / kPi + 1.0 / 3.0));
  CHECK(relu_value_kernel(1.0 + 1e-15) == 1.0);  // what rounding makes of 1
}

TEST_CASE("relu_value_kernel: its slope is the gate's, since the gate is relu's derivative") {
  for (double c : {-0.7, 0.0, 0.2, 0.9}) {
    const double slope = (relu_value_kernel(c + 1e-5) - relu_value_kernel(c - 1e-5)) / 2e-5;
    CHECK(close(slope, relu_gate_kernel(c), 1e-8));
  }
}

TEST_CASE("softmax_overlap: closed cases") {
  for (std::int64_t classes : {1, 2, 10, 1000}) {
    CAPTURE(classes);
    const double chance = 1.0 / static_cast<double>(classes);
    CHECK(
        close(softmax_overlap(0.0, 1.7, classes), chance, 1e-8));  // independent: only means count
    CHECK(close(softmax_overlap(0.4, 0.0, classes), chance, 1e-8));
  }
  CHECK(close(softmax_overlap(0.7, 1.3, 1), 1.0, 1e-8));
  // Many classes: the denominators are V e^(variance / 2), up to O(1 / V).
  CHECK(close(softmax_overlap(0.8, 0.5, 100'000), std::exp(0.4) / 1e5, 1e-4));
}

TEST_CASE("softmax_overlap: the integral and the mean over random logits by PyTorch") {
  for (const FixtureCase& fixture : load_fixture_cases("mean_field.json", "softmax_overlap")) {
    CAPTURE(fixture.name);
    const double got =
        softmax_overlap(fixture.option<double>("correlation"), fixture.option<double>("variance"),
                        fixture.option<std::int64_t>("classes"));
    const double expected = fixture.output("mean").data[0];
    CHECK(std::abs(got - expected) <= 1e-8 * expected + 4.0 * fixture.output("error").data[0]);
  }
}

TEST_CASE("softmax_overlap: what has no meaning is refused") {
  CHECK_THROWS_AS(softmax_overlap(1.1, 1.0, 2), std::invalid_argument);
  CHECK_THROWS_AS(softmax_overlap(-0.1, 1.0, 2), std::invalid_argument);
  CHECK_THROWS_AS(softmax_overlap(0.5, -1.0, 2), std::invalid_argument);
  CHECK_THROWS_AS(softmax_overlap(0.5, 1.0, 0), std::invalid_argument);
}
