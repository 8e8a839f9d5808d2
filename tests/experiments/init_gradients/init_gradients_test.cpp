#include "experiments/init_gradients/init_gradients.hpp"

#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include <doctest/doctest.h>

#include "tests/experiments/init_gradients/init_gradients_cases.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;
using namespace normlab::init_gradients;

namespace {

void check_option_refused(const std::function<void(Options&)>& spoil,
                          std::string_view message_start) {
  Options options = small_run();
  CHECK_NOTHROW(check(options));
  spoil(options);
  check_refused([&] { check(options); }, message_start);
}

}  // namespace

TEST_CASE("init_gradients: the defaults are the published run") {
  const Options options;
  CHECK(options.model.d_model == 64);
  CHECK(options.model.nhead == 4);
  CHECK(options.model.dim_feedforward == 256);
  CHECK(options.images == 256);
  CHECK(options.seeds == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(options.layers == std::vector<std::int64_t>{6, 12, 24});
  CHECK(options.profile_layers == 12);
  CHECK(options.scales[0].value == 1.0);
  CHECK(options.scales[1].value == 1.0 / std::sqrt(64.0));
  CHECK_NOTHROW(check(options));
}

TEST_CASE("init_gradients: options that do not fit are refused by name") {
  check_option_refused([](Options& o) { o.model.nhead = 4; },
                       "[init_gradients] --width: must be a positive multiple of --heads, got 6 "
                       "with 4 heads");
  check_option_refused([](Options& o) { o.model.nhead = 0; }, "[init_gradients] --width:");
  check_option_refused([](Options& o) { o.model.nhead = -2; }, "[init_gradients] --width:");
  check_option_refused([](Options& o) { o.model.d_model = 0; }, "[init_gradients] --width:");
  check_option_refused([](Options& o) { o.model.dim_feedforward = 0; },
                       "[init_gradients] --ffn: must be from 1 to 65536, got 0");
  check_option_refused([](Options& o) { o.images = 0; },
                       "[init_gradients] --images: must be at least 1, got 0");
  check_option_refused([](Options& o) { o.seeds = {}; },
                       "[init_gradients] --seeds: must name at least one, got none");
  check_option_refused(
      [](Options& o) {
        o.seeds = {5, 1, 5};
      },
      "[init_gradients] --seeds: must differ from one another, got 5 twice");
  check_option_refused([](Options& o) { o.layers = {}; }, "[init_gradients] --layers:");
  check_option_refused(
      [](Options& o) {
        o.layers = {3, 0};
      },
      "[init_gradients] --layers: must be from 1 to 10000, got 0");
  check_option_refused(
      [](Options& o) {
        o.layers = {3, 2, 3};
      },
      "[init_gradients] --layers: must differ from one another, got 3 twice");
  check_option_refused([](Options& o) { o.profile_layers = 0; },
                       "[init_gradients] --profile-layers: must be from 1 to 10000, got 0");
  check_option_refused([](Options& o) { o.placements = {}; }, "[init_gradients] --placement:");
  check_option_refused(
      [](Options& o) {
        o.placements = {Placement::pre, Placement::pre};
      },
      "[init_gradients] --placement: must differ from one another, got pre twice");
}

TEST_CASE("init_gradients: scales must be positive, finite and different") {
  for (const double value : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    check_option_refused(
        [&](Options& o) {
          o.scales = {{"named", value}};
        },
        "[init_gradients] --input-scale: must be positive numbers, got named");
  }
  check_option_refused([](Options& o) { o.scales = {}; },
                       "[init_gradients] --input-scale: must name at least one, got none");
  check_option_refused(
      [](Options& o) {
        o.scales = {{"unit", 1.0}, {"1.0", 1.0}};
      },
      "[init_gradients] --input-scale: must differ from one another, got unit and "
      "1.0, which are both 1");
}

TEST_CASE("init_gradients: sizes that no memory holds are refused, overflowing ones too") {
  check_option_refused([](Options& o) { o.model.d_model = 1'000'000'000'000; },
                       "[init_gradients] --width: must be from 1 to 65536, got 1000000000000");
  check_option_refused(
      [](Options& o) { o.model.dim_feedforward = std::numeric_limits<std::int64_t>::max(); },
      "[init_gradients] --ffn: must be from 1 to 65536");
  check_option_refused([](Options& o) { o.layers = {std::numeric_limits<std::int64_t>::max()}; },
                       "[init_gradients] --layers: must be from 1 to 10000");
  check_option_refused([](Options& o) { o.profile_layers = 10'001; },
                       "[init_gradients] --profile-layers: must be from 1 to 10000, got 10001");
  check_option_refused(
      [](Options& o) {
        o.model = {.d_model = 65'536, .nhead = 1, .dim_feedforward = 65'536};
        o.layers = {1};
        o.profile_layers = 1;
      },
      "[init_gradients] --layers: times 25769803776 weights per layer must be at most 1073741824");
  // 4 * 4096^2 + 2 * 4096 * 24576 weights per layer: four layers are exactly the limit.
  Options most = small_run();
  most.model = {.d_model = 4096, .nhead = 1, .dim_feedforward = 24'576};
  most.layers = {4};
  CHECK_NOTHROW(check(most));
  most.layers = {5};
  CHECK_THROWS_AS(check(most), std::invalid_argument);
}

TEST_CASE("init_gradients: a scale is unit, 1/sqrt(d) or a number") {
  const std::vector<InputScale> scales = input_scales({"1/sqrt(d)", "unit", "2.5"}, 16);
  REQUIRE(scales.size() == 3);
  CHECK(scales[0].value == 0.25);
  CHECK(scales[1].value == 1.0);
  CHECK(scales[2].value == 2.5);
  CHECK(scales[2].name == "2.5");
  check_refused(
      [] { input_scales({"2.5x"}, 16); },
      "[init_gradients] --input-scale: must be unit, 1/sqrt(d) or positive numbers, got 2.5x");
}

TEST_CASE(
    "init_gradients: the table over layers is of 12 layers if that is a depth, or of the most") {
  CHECK(default_profile({6, 12, 24}) == 12);
  CHECK(default_profile({6, 2}) == 6);
}

TEST_CASE("init_gradients: more images than there are is refused") {
  Options options = small_run();
  options.images = 1798;
  check_refused([&] { measure(options, {}); },
                "[init_gradients] --images: must be at most 1797, as many as there are, got 1798");
}

TEST_CASE("init_gradients: each point of both tables is measured once, in their order") {
  const Measured result = measure(small_run(), {});
  // The table over layers needs its depth at the first scale, the depth table both scales.
  std::vector<std::pair<double, std::int64_t>> expected{
      {1.0, 2}, {1.0, 1}, {1.0, 3}, {0.5, 1}, {0.5, 3}};
  REQUIRE(result.points.size() == expected.size() * 2 * 2);
  std::size_t at = 0;
  for (const auto& [scale, layers] : expected) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      for (const std::uint64_t seed : small_run().seeds) {
        CHECK(result.points[at].configuration == Configuration{layers, placement, seed, scale});
        CHECK(std::ssize(result.points[at].measured.w2_grad_norm) == layers);
        ++at;
      }
    }
  }
}

TEST_CASE("init_gradients: a depth that both tables show is computed once") {
  Options options = small_run();
  options.profile_layers = 3;
  const Measured result = measure(options, {});
  std::map<std::tuple<std::int64_t, Placement, std::uint64_t, double>, int> times;
  for (const Point& point : result.points) {
    const Configuration& c = point.configuration;
    ++times[{c.layers, c.placement, c.seed, c.scale}];
  }
  CHECK(result.points.size() == 2 * 2 * 2 * 2);
  CHECK(times.size() == result.points.size());
}

TEST_CASE("init_gradients: each point's numbers are those of its own network") {
  const Options options = small_run();
  const Measured result = measure(options, {.threads = 2});
  for (const Point& point : result.points) {
    const GradientMeasurement alone =
        measure_gradients(options.model, point.configuration, result.tokens);
    CHECK(point.measured.loss == alone.loss);
    CHECK(point.measured.w2_grad_norm == alone.w2_grad_norm);
    CHECK(&result.measurement(point.configuration) == &point.measured);
  }
  check_refused(
      [&] {
        result.measurement({9, Placement::post, 3, 1.0});
      },
      "[init_gradients] configuration: must have been measured, got 9 layers, seed 3");
}

TEST_CASE("init_gradients: self-checks are those of the placements and depths asked for") {
  Options options = small_run();
  options.placements = {Placement::pre};
  const Measured result = measure(options, {});
  options.layers = {4, 2};
  const Measured deeper = measure(options, {});
  REQUIRE(deeper.finite_differences.size() == 2);
  CHECK(deeper.finite_differences[0].layer == 1);
  CHECK(deeper.finite_differences[1].layer == 2);
  REQUIRE(result.finite_differences.size() == 1);  // the smallest depth is 1
  for (const auto& check : result.finite_differences) CHECK(check.placement == Placement::pre);
  CHECK(result.checks_passed());
  for (const Point& point : result.points) CHECK(point.configuration.placement == Placement::pre);
}

TEST_CASE("init_gradients: progress ends at the total") {
  double last = 0.0, total = 0.0;
  measure(small_run(), {.threads = 2, .progress = [&](double done, double all) {
                          CHECK(done > last);
                          last = done;
                          total = all;
                        }});
  CHECK(total > 0.0);
  CHECK(std::abs(last / total - 1.0) <= 1e-14);
}

TEST_CASE("init_gradients: one failed check fails the run") {
  Measured result;
  result.norm_agreement = {1e-15, 0.5};
  result.finite_differences = {{Placement::post, 1, 1.0, 1.0, 2.0},
                               {Placement::post, 6, 1.0, 1.0, 2.0}};
  CHECK(result.checks_passed());
  result.finite_differences[1].analytic = 1.001;
  CHECK_FALSE(result.checks_passed());
  result.finite_differences[1].analytic = 1.0;
  result.norm_agreement.centred = 1e-3;
  CHECK_FALSE(result.checks_passed());
}
