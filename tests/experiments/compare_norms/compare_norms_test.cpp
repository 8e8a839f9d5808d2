#include "experiments/compare_norms/compare_norms.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "tests/support/function_layer.hpp"

using namespace normlab;
using namespace normlab::compare_norms;

namespace {

Measured measured(const Options& options, int threads = 1) {
  return measure(options, {.threads = threads});
}

Options small(const std::vector<Placement>& placements,
              const std::vector<std::string>& norms = {"layernorm"}) {
  Options options;
  options.width = 16;
  options.ffn = 32;
  options.images = 4;
  options.norms = norms;
  options.placements = placements;
  options.layers = {2, 4, 8};
  options.seeds = {0, 1};
  return options;
}

Summary only(const Options& options) { return summaries(measured(options)).at(0); }

std::string text(const Measured& result) { return lab::to_text(results(result)); }
std::string json(const Measured& result) { return lab::to_json(results(result)); }

}  // namespace

// What the source article says of each variant, on these numbers.
TEST_CASE("compare_norms: post-norm's stream stays, pre-norm's grows") {
  const Summary post = only(small({Placement::post}));
  const Summary pre = only(small({Placement::pre}));
  CHECK(std::abs(post.stream_per_block) < 0.05);
  CHECK(std::abs(post.stream_exponent) < 0.2);
  CHECK(pre.stream_per_block > 0.3);
  CHECK(pre.stream_exponent > 0.5);
}

TEST_CASE("compare_norms: res-post adds at most its norms' two tokens of size 1 per block") {
  // "Does not accumulate" is said of trained weights: with branch weights of any size the stream
  // grows by what the norms let through, where pre-norm's grows with their square.
  Options options = small({Placement::res_post});
  const Measured result = measured(options);
  for (const Point& point : result.points) {
    const std::vector<double>& stream = point.measured.stream_sq_norm_per_d;
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
      // |x + u + v| <= |x| + |u| + |v|, with |u|^2 / d and |v|^2 / d at most 1.
      CHECK(std::sqrt(stream[i + 1]) <= std::sqrt(stream[i]) + 2.0 + 1e-12);
    }
  }
}

TEST_CASE("compare_norms: adaln-zero and rezero start as the identity") {
  for (const Placement placement : {Placement::ada_ln_zero, Placement::re_zero}) {
    const Measured result = measured(small({placement}));
    for (const Point& point : result.points) {
      for (double size : point.measured.stream_sq_norm_per_d) {
        CHECK(size == point.measured.stream_sq_norm_per_d.front());
      }
      for (double gradient : point.measured.w2_grad_norm) CHECK(gradient == 0.0);
    }
    const Summary row = summaries(result).at(0);
    CHECK(row.stream_per_block == 0.0);
    CHECK(std::isnan(row.ratio.median));
    CHECK(std::isnan(row.depth.slope));
  }
}

TEST_CASE("compare_norms: a small gate makes layerscale's stream grow less than pre-norm's") {
  CHECK(only(small({Placement::layer_scale})).stream_per_block <
        0.1 * only(small({Placement::pre})).stream_per_block);
}

TEST_CASE("compare_norms: every norm in every placement gives finite numbers") {
  Options options = everything_registered();
  options.width = 8;
  options.heads = 2;
  options.ffn = 8;
  options.images = 2;
  options.layers = {1, 2};
  options.seeds = {0};
  const Measured result = measured(options, 2);
  CHECK(results(result).exit_code == 0);
  // rezero has no norm: one row for all of them.
  CHECK(summaries(result).size() == options.norms.size() * (options.placements.size() - 1) + 1);
  CHECK(text(result) == text(measured(options, 1)));
  CHECK(json(result) == json(measured(options, 1)));
  std::size_t column = 0;
  for (const char c : text(result)) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

TEST_CASE("compare_norms: the depth exponent is the slope of the logarithms") {
  Options options = small({Placement::pre});
  Measured result{options, points_of(options)};
  for (Point& point : result.points) {  // made up: 3 L^(-1/2), stream 2 + l
    const auto depth = static_cast<double>(point.configuration.layers);
    point.measured.w2_grad_norm = {1.0, 3.0 / std::sqrt(depth)};
    point.measured.stream_sq_norm_per_d = {3.0, 4.0, 5.0};
    point.measured.loss = 2.0;
  }
  const Summary row = summaries(result).at(0);
  CHECK(std::abs(row.depth.slope + 0.5) < 1e-14);
  CHECK(row.depth.slope_error < 1e-14);
  CHECK(row.stream_per_block == 1.0);
  CHECK(row.first.median == 1.0);
  CHECK(row.last.median == 3.0 / std::sqrt(8.0));
  CHECK(row.loss.median == 2.0);
}

TEST_CASE("compare_norms: options that do not fit are refused") {
  const auto refused = [](const auto& change, const char* part) {
    Options options = small({Placement::pre});
    change(options);
    std::string message;
    try {
      check(options);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  refused([](Options& o) { o.width = 10; }, "--width: must be a positive multiple");
  refused([](Options& o) { o.norms = {}; }, "--norm: must name at least one");
  refused([](Options& o) { o.norms = {"foo"}; }, "must be one of layernorm");
  refused([](Options& o) { o.layers = {2, 2}; }, "--layers: must differ");
  refused([](Options& o) { o.layers = {0}; }, "--layers: must be at least 1");
  refused([](Options& o) { o.seeds = {0, std::uint64_t{1} << 32}; }, "--seeds: must differ");
}

TEST_CASE("compare_norms: a norm whose gradient is wrong is refused before anything is computed") {
  // RMSNorm whose backward takes the root mean square for a constant.
  NormEntry wrong = make_entry(
      [](FunctionLayer& layer, const Var& x) {
        const Var rms = sqrt(mean(square(x), {-1}, true) + 1e-5);
        return layer.watch(x, "weight") * (x / x.tape().constant(rms.value()));
      },
      rms_norm_properties());
  wrong.name = "wrong_gradient";
  nn::norms().add(wrong);
  CHECK_THROWS_WITH_AS(check(small({Placement::pre}, {"layernorm", "wrong_gradient"})),
                       doctest::Contains("--norm: must have the gradient of its value (norm_card "
                                         "tells more), got wrong_gradient"),
                       std::invalid_argument);
}

TEST_CASE(
    "compare_norms: JSON has the table and every point, the page a figure for each question") {
  const Measured result = measured(small({Placement::pre, Placement::re_zero}));
  const lab::Results found = results(result);
  const nlohmann::json document = nlohmann::json::parse(json(result));
  const nlohmann::json& tables = document["tables"];
  CHECK(tables["summary"].size() == 2);
  CHECK(tables["points"].size() == result.points.size());
  CHECK(tables["points"][0]["w2_grad_norm"].size() == 2);
  CHECK(tables["summary"][1]["last_over_first"]["median"] == "nan");
  REQUIRE(found.figures.size() == 4);
  CHECK(found.figures[0].series.size() == 2);  // a line for each placement
  CHECK(found.figures[2].series.size() == 1);  // a line for each norm
}
