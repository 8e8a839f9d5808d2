#include "experiments/theory/simplified_transformer.hpp"

#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "experiments/lab/stats/statistics.hpp"
#include "experiments/theory/mean_field_measurement.hpp"
#include "nn/init.hpp"

using namespace normlab;

namespace {

constexpr Placement kDerived[] = {Placement::post, Placement::pre, Placement::res_post};

double dot(const Tensor& x, std::int64_t i, std::int64_t j) {
  const std::int64_t d = x.width();
  return std::inner_product(x.data() + i * d, x.data() + (i + 1) * d, x.data() + j * d, 0.0);
}

// A slip in how the simplified block is put together would show against the general one.
void make_uniform(TransformerEncoderLayer& layer, const SimplifiedBlock& block) {
  const std::int64_t d = block.wv.value.shape()[0];
  Tensor& in_proj = layer.self_attn.in_proj_weight.value;
  init::zeros(in_proj);
  std::copy_n(block.wv.value.data(), d * d, in_proj.mutable_data() + 2 * d * d);
  Tensor& out_proj = layer.self_attn.out_proj.weight.value;
  init::zeros(out_proj);
  for (std::int64_t i = 0; i < d; ++i) out_proj.mutable_data()[i * d + i] = 1.0;
  layer.linear1.weight.value = block.w1.value;
  layer.linear2.weight.value = block.w2.value;
}

}  // namespace

TEST_CASE("pair_moments: means over all pairs, one by one") {
  Generator generator(3);
  const Tensor x = generator.randn({3, 4, 5});
  PairMoments sums;
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < 12; ++j) {
      (i == j ? sums.same : i / 4 == j / 4 ? sums.within : sums.across) += dot(x, i, j);
    }
  }
  const PairMoments got = pair_moments(x);
  CHECK(std::abs(got.same - sums.same / 12.0) < 1e-13);
  CHECK(std::abs(got.within - sums.within / 36.0) < 1e-13);
  CHECK(std::abs(got.across - sums.across / 96.0) < 1e-13);
  CHECK(pair_moments(generator.randn({3, 1, 5})).within == 0.0);
  CHECK(pair_moments(generator.randn({1, 3, 5})).across == 0.0);
  CHECK_THROWS_AS(pair_moments(generator.randn({3, 5})), std::invalid_argument);
}

TEST_CASE("simplified_transformer: a block is the encoder layer with zero queries and keys") {
  for (Placement placement : kDerived) {
    CAPTURE(name(placement));
    Generator generator(5);
    SimplifiedBlock block({.placement = placement, .width = 12, .ffn = 7}, generator);
    TransformerEncoderLayer layer(12, 3, generator,
                                  {.dim_feedforward = 7,
                                   .dropout = 0.0,
                                   .layer_norm_eps = 0.0,
                                   .bias = false,
                                   .placement = placement});
    make_uniform(layer, block);
    const Tensor x = generator.randn({2, 5, 12});
    Tape tape;
    const Tensor got = block.forward(tape.constant(x)).value();
    const Tensor expected = layer.forward(tape.constant(x)).value();
    CHECK(max_abs_difference(got, expected) < 1e-13);
  }
}

TEST_CASE("simplified_transformer: matrices are Xavier's, and others are refused") {
  Generator generator(1);
  SimplifiedTransformer model({.layers = 2, .width = 96, .ffn = 160, .classes = 32}, generator);
  REQUIRE(model.named_parameters().size() == 7);
  for (const auto& [case_parameter_name, parameter] : model.named_parameters()) {
    const auto& parameter_name = case_parameter_name;
    CAPTURE(parameter_name);
    const auto fans = init::fans(parameter->value.shape());
    const double variance = 2.0 / static_cast<double>(fans.in + fans.out);
    const double size = norm(parameter->value);
    CHECK(std::abs(size * size / static_cast<double>(parameter->value.numel()) / variance - 1.0) <
          0.1);
  }
  CHECK_THROWS_AS(SimplifiedTransformer({.placement = Placement::sandwich}, generator),
                  std::invalid_argument);
}

TEST_CASE("measure_simplified: the input has the moments that were asked for") {
  const MeanFieldSetting setting{
      .layers = 1, .width = 256, .ffn = 4, .tokens = 8, .sequences = 8, .input = {2.0, 1.0, 0.5}};
  std::vector<double> same, within, across;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PairMoments got = measure_simplified(setting, seed, Passes::forward).input;
    same.push_back(got.same);
    within.push_back(got.within);
    across.push_back(got.across);
  }
  for (const auto& [list, expected] :
       {std::pair{&same, 2.0}, std::pair{&within, 1.0}, std::pair{&across, 0.5}}) {
    const Estimate got = estimate(*list);
    CHECK(std::abs(got.mean - expected) < 4.0 * got.error);
    CHECK(got.error < 0.05);
  }
  CHECK_THROWS_AS(measure_simplified({.input = {1.0, 0.1, 0.2}}, 0), std::invalid_argument);
}

TEST_CASE("measure_simplified: forward alone gives the same moments as both passes") {
  const MeanFieldSetting setting{.placement = Placement::pre,
                                 .layers = 3,
                                 .width = 16,
                                 .ffn = 8,
                                 .tokens = 3,
                                 .sequences = 2,
                                 .classes = 4};
  const MeanFieldMeasurement both = measure_simplified(setting, 7);
  const MeanFieldMeasurement forward = measure_simplified(setting, 7, Passes::forward);
  REQUIRE(both.blocks.size() == 3);
  REQUIRE(forward.blocks.size() == 3);
  for (std::size_t l = 0; l < 3; ++l) {
    CHECK(both.blocks[l].after_attention == forward.blocks[l].after_attention);
    CHECK(both.blocks[l].after_ffn == forward.blocks[l].after_ffn);
  }
  CHECK(both.gradients.w2.size() == 3);
  CHECK(forward.gradients.w2.empty());
}

TEST_CASE("measure_simplified: theory and a Monte Carlo agree at small depth, every placement") {
  // Width 192 leaves each seed some per cent; the mean of 16 is held to 6 %. The gradients start
  // from each seed's own gradient at the output.
  constexpr double kTolerance = 0.06;
  for (Placement placement : kDerived) {
    const MeanFieldSetting setting{.placement = placement,
                                   .layers = 2,
                                   .width = 192,
                                   .ffn = 288,
                                   .tokens = 4,
                                   .sequences = 3,
                                   .classes = 5,
                                   .input = {1.0, 0.3, 0.1}};
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    constexpr std::size_t kSeeds = 16;
    std::vector<MeanFieldMeasurement> seeds;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      seeds.push_back(measure_simplified(setting, seed));
    }
    for (std::size_t l = 0; l < 2; ++l) {
      CAPTURE(name(placement));
      CAPTURE(l);
      PairMoments attention, ffn;
      double w1 = 0.0, w2 = 0.0, wv = 0.0;
      for (const MeanFieldMeasurement& seed : seeds) {
        attention = attention + seed.blocks[l].after_attention / kSeeds;
        ffn = ffn + seed.blocks[l].after_ffn / kSeeds;
        const SquaredNorms expected = expected_gradients(setting, blocks, seed.output_gradient);
        w1 += std::sqrt(seed.gradients.w1[l] / expected.w1[l]) / kSeeds;
        w2 += std::sqrt(seed.gradients.w2[l] / expected.w2[l]) / kSeeds;
        wv += std::sqrt(seed.gradients.wv[l] / expected.wv[l]) / kSeeds;
      }
      for (const auto& [got, expected] :
           {std::pair{attention, blocks[l].after_attention}, std::pair{ffn, blocks[l].after_ffn}}) {
        CHECK(std::abs(got.same / expected.same - 1.0) < kTolerance);
        CHECK(std::abs(got.within / expected.within - 1.0) < kTolerance);
        CHECK(std::abs(got.across - expected.across) < kTolerance * expected.same);
      }
      CHECK(std::abs(w1 - 1.0) < kTolerance);
      CHECK(std::abs(w2 - 1.0) < kTolerance);
      CHECK(std::abs(wv - 1.0) < kTolerance);
    }
  }
}
