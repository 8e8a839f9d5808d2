#include "experiments/init_gradients/shared_depths.hpp"

#include <doctest/doctest.h>

using namespace normlab;
using namespace normlab::init_gradients;

TEST_CASE("measure_depths: bit for bit what one depth at a time gives, in the order asked for") {
  const Tokens tokens = tokens_of(load_digits().range(0, 17));  // two slices
  for (const PlacementEntry& entry : nn::placements()) {
    if (entry.placement == Placement::deep_norm) continue;
    CAPTURE(entry.name);
    const EncoderModel::Config config{.d_model = 6, .nhead = 2, .dim_feedforward = 5};
    const std::vector<Configuration> configurations{
        {3, entry.placement, 1, 0.5}, {1, entry.placement, 1, 0.5}, {4, entry.placement, 1, 0.5}};
    const auto together = measure_depths(config, configurations, tokens);
    REQUIRE(together.size() == configurations.size());
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const GradientMeasurement alone = measure_gradients(config, configurations[i], tokens);
      CHECK(std::ssize(together[i].w2_grad_norm) == configurations[i].layers);
      CHECK(together[i].loss == alone.loss);
      CHECK(together[i].w1_grad_norm == alone.w1_grad_norm);
      CHECK(together[i].w2_grad_norm == alone.w2_grad_norm);
      CHECK(together[i].in_proj_grad_norm == alone.in_proj_grad_norm);
      CHECK(together[i].out_proj_grad_norm == alone.out_proj_grad_norm);
      CHECK(together[i].stream_sq_norm_per_d == alone.stream_sq_norm_per_d);
    }
  }
}

TEST_CASE("measure_depths: configurations that differ in more than depth are refused") {
  const Tokens tokens = tokens_of(load_digits().range(0, 1));
  const EncoderModel::Config config{.d_model = 6, .nhead = 2, .dim_feedforward = 5};
  const Configuration first{2, Placement::pre, 0, 1.0};
  const auto refused = [&](const std::vector<Configuration>& configurations) {
    CHECK_THROWS_AS(measure_depths(config, configurations, tokens), std::invalid_argument);
  };
  refused({});
  refused({first, {1, Placement::post, 0, 1.0}});
  refused({first, {1, Placement::pre, 1, 1.0}});
  refused({first, {1, Placement::pre, 0, 0.5}});
  refused({{1, Placement::deep_norm, 0, 1.0}, {2, Placement::deep_norm, 0, 1.0}});
}
