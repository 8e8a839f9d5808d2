#include "experiments/untrained/gradients.hpp"

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

Placement placement_of(const FixtureCase& fixture) {
  return fixture.option<std::string>("placement") == "pre" ? Placement::pre : Placement::post;
}

EncoderModel::Config config_of(const FixtureCase& fixture) {
  return {.d_model = fixture.option<std::int64_t>("width"),
          .nhead = fixture.option<std::int64_t>("heads"),
          .dim_feedforward = fixture.option<std::int64_t>("ffn")};
}

void check_close(const std::string& key, const FixtureCase& fixture,
                 const std::vector<double>& got) {
  const std::vector<double>& expected = fixture.output(key).data;
  REQUIRE_MESSAGE(got.size() == expected.size(), key);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]) / std::abs(expected[i]);
    CHECK_MESSAGE(error <= 1e-9, fixture.name, ", ", key, " ", i, ": ", got[i], " for ",
                  expected[i]);
  }
}

bool same(const GradientMeasurement& a, const GradientMeasurement& b) {
  return a.loss == b.loss && a.w1_grad_norm == b.w1_grad_norm && a.w2_grad_norm == b.w2_grad_norm &&
         a.in_proj_grad_norm == b.in_proj_grad_norm &&
         a.out_proj_grad_norm == b.out_proj_grad_norm &&
         a.stream_sq_norm_per_d == b.stream_sq_norm_per_d;
}

}  // namespace

TEST_CASE("measure_gradients: every number is PyTorch's, for odd sizes, seeds and scales") {
  for (const FixtureCase& fixture : load_fixture_cases("gradients.json", "gradient_cell")) {
    CAPTURE(fixture.name);
    const Tokens tokens = tokens_of(load_digits().range(0, fixture.option<std::int64_t>("images")));
    const Configuration configuration{fixture.option<std::int64_t>("layers"), placement_of(fixture),
                                      fixture.option<std::uint64_t>("seed"),
                                      fixture.option<double>("scale")};
    const GradientMeasurement got = measure_gradients(config_of(fixture), configuration, tokens);
    check_close("loss", fixture, {got.loss});
    check_close("w1_grad_norm", fixture, got.w1_grad_norm);
    check_close("w2_grad_norm", fixture, got.w2_grad_norm);
    check_close("in_proj_grad_norm", fixture, got.in_proj_grad_norm);
    check_close("out_proj_grad_norm", fixture, got.out_proj_grad_norm);
    check_close("stream_sq_norm_per_d", fixture, got.stream_sq_norm_per_d);
  }
}

TEST_CASE(
    "measure_gradients: one number per layer, and the final norm's stream for pre-norm only") {
  const Tokens tokens = tokens_of(load_digits().range(0, 2));
  for (const Placement placement : {Placement::post, Placement::pre}) {
    const GradientMeasurement got = measure_gradients(
        {.d_model = 6, .nhead = 3, .dim_feedforward = 5}, {4, placement, 0, 1.0}, tokens);
    CHECK(got.w1_grad_norm.size() == 4);
    CHECK(got.w2_grad_norm.size() == 4);
    CHECK(got.in_proj_grad_norm.size() == 4);
    CHECK(got.out_proj_grad_norm.size() == 4);
    CHECK(got.stream_sq_norm_per_d.size() == (placement == Placement::pre ? 5 : 4));
  }
}

TEST_CASE("measure_gradients: the loss of slices is the loss of all images") {
  // 16 images are one slice, 17 two: the mean over tokens joins them as the sizes weigh.
  const EncoderModel::Config config{.d_model = 6, .nhead = 2, .dim_feedforward = 5};
  const Configuration configuration{2, Placement::pre, 3, 1.0};
  const Tokens all = tokens_of(load_digits().range(0, 17));
  const auto part = [&](std::int64_t first, std::int64_t last) {
    const std::int64_t row = 16 * 4;
    const auto begin = all.patches.values().begin();
    return Tokens{
        Tensor({last - first, 16, 4}, std::vector<double>(begin + first * row, begin + last * row)),
        {all.labels.begin() + first, all.labels.begin() + last}};
  };
  const double first = measure_gradients(config, configuration, part(0, 16)).loss;
  const double second = measure_gradients(config, configuration, part(16, 17)).loss;
  const double joined = (16.0 * first + second) / 17.0;
  CHECK(std::abs(measure_gradients(config, configuration, all).loss - joined) <= 1e-14 * joined);
}

TEST_CASE("measure_gradients: only the low 32 bits of the seed count, and other seeds differ") {
  const Tokens tokens = tokens_of(load_digits().range(0, 2));
  const auto measure = [&](std::uint64_t seed) {
    return measure_gradients({.d_model = 6, .nhead = 2, .dim_feedforward = 5},
                             {1, Placement::post, seed, 1.0}, tokens);
  };
  CHECK(same(measure(5), measure(5)));
  CHECK(same(measure(5), measure((std::uint64_t{1} << 32) + 5)));
  CHECK_FALSE(same(measure(5), measure(6)));
}
