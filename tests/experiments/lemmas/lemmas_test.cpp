#include "experiments/lemmas/lemmas.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace normlab;
using namespace normlab::lemmas;
using lab::Claim;

namespace {

Options small_run() {
  Options options;
  options.setting = {.width = 24, .ffn = 24, .tokens = 3, .sequences = 2, .classes = 4};
  options.depths = {1, 3};
  options.widths = {8, 16};
  options.seeds = 3;
  return options;
}

// One token of one size in each layer, and last gradients of a known exponent: for claims whose
// answer is known.
Measured made_up(double post_size, double pre_slope, double depth_exponent) {
  Measured result{small_run(), {}};
  const auto add = [&](Axis axis, Placement placement, std::int64_t layers, std::int64_t width) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      result.points.push_back({axis, placement, layers, width, seed});
      MeanFieldMeasurement& measured = result.points.back().measured;
      for (std::int64_t l = 1; l <= layers; ++l) {
        const double size =
            placement == Placement::post ? post_size : 1.0 + pre_slope * static_cast<double>(l);
        measured.blocks.push_back({{}, {}, {size, 0.0, 0.0}});
      }
      measured.last_sizes = {1.0, 1.0, 1.0, static_cast<double>(seed)};
      measured.gradients.w2 = {axis == Axis::depth
                                   ? std::pow(static_cast<double>(layers), 2.0 * depth_exponent)
                                   : static_cast<double>(width)};
    }
  };
  for (Placement placement : {Placement::post, Placement::pre}) {
    for (std::int64_t layers : result.options.depths) {
      add(Axis::depth, placement, layers, result.options.setting.width);
    }
    for (std::int64_t width : result.options.widths) {
      add(Axis::width, placement, kDepthOfWidths, width);
    }
  }
  return result;
}

bool close(double got, double expected) { return std::abs(got - expected) < 1e-12; }

}  // namespace

TEST_CASE("lemmas: Lemma 2 is held against every layer, the farthest is told") {
  const std::vector<Claim> right = stream_claims(made_up(1.5, 0.75, 0.0));
  REQUIRE(right.size() == 4);
  for (const Claim& claim : right) CHECK(claim.holds());
  CHECK(close(right[1].measured.mean, 0.25));  // 0.75 is a quarter of the way from 1/2 to 3/2
  CHECK(close(right[2].measured.mean, 0.25));
  CHECK(right[3].measured.mean == 1.0);
  const std::vector<Claim> wrong = stream_claims(made_up(1.8, 1.75, 0.0));
  CHECK(close(wrong[0].miss(), 0.3));
  CHECK_FALSE(wrong[0].holds());
  CHECK(wrong[1].measured.mean > 1.0);
  CHECK_FALSE(wrong[2].holds());
  CHECK(wrong[3].measured.mean == 0.0);
}

TEST_CASE("lemmas: exponents are slopes in the logarithm") {
  const std::vector<Claim> claims = gradient_claims(made_up(1.5, 1.0, -0.5));
  REQUIRE(claims.size() == 4);
  CHECK(close(claims[0].measured.mean, -0.5));
  CHECK_FALSE(claims[0].holds());
  CHECK(close(claims[1].measured.mean, -0.5));
  CHECK(claims[1].holds());
  CHECK(close(claims[2].measured.mean, 0.5));  // |dW2|^2 ~ d
  CHECK(claims[2].holds());
}

TEST_CASE("lemmas: delta is the share of tokens farther than epsilon from the mean") {
  const std::vector<Claim> claims = boundedness_claims(made_up(1.5, 1.0, 0.0));
  REQUIRE(claims.size() == 2);
  // Sizes 1 1 1 0, 1 1 1 1, 1 1 1 2: mean 1; a quarter, none, a quarter are off.
  CHECK(close(claims[0].measured.mean, 1.0 / 6.0));
  CHECK(claims[0].statement.starts_with("at d = 16,"));
}

TEST_CASE("lemmas: boundedness is about the sizes of the last block's tokens") {
  const Measured result = measure(small_run(), {});
  for (const Point& point : result.points) {
    const std::vector<double>& sizes = point.measured.last_sizes;
    REQUIRE(sizes.size() == 6);
    double mean = 0.0;
    for (double size : sizes) mean += size / 6.0;
    CHECK(close(mean, point.measured.blocks.back().after_ffn.same));
  }
}

TEST_CASE("lemmas: Lemmas 1 and 3 hold, and text, JSON and page say so for any number of threads") {
  const Measured result = measure(small_run(), {});
  const lab::Results found = results(result),
                     parallel = results(measure(small_run(), {.threads = 3}));
  CHECK(lab::to_text(found) == lab::to_text(parallel));
  std::istringstream lines(lab::to_text(found));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(lab::to_json(found) == lab::to_json(parallel));
  for (const Claim& claim : relu_claims(small_run())) CHECK(claim.holds());
  const std::vector<Claim> jacobian = jacobian_claims(small_run());
  CHECK(jacobian[0].miss() < 1e-12);
  CHECK(jacobian[1].measured.mean > 1.0);  // |x| is longer than |x - mean|
  const auto document = nlohmann::json::parse(lab::to_json(found));
  CHECK(document["config"]["layers_of_widths"] == kDepthOfWidths);
  const nlohmann::json& tables = document["tables"];
  CHECK(tables["claims"].size() == claims(result).size());
  CHECK(tables["by_depth"].size() == 2 * 2 * 3);
  CHECK(tables["by_width"][0]["after_ffn"].size() == kDepthOfWidths);
  CHECK(tables["claims"][0]["must_hold"] == true);
  CHECK(found.figures.size() == 4);
  CHECK(lab::to_html(found, {.program = "no-such-gnuplot"}).find("Theorem 1") != std::string::npos);
}

TEST_CASE("lemmas: a proved claim that does not hold is exit code 1, another one is none") {
  CHECK(results(made_up(1.5, 0.75, 3.0)).exit_code == 0);  // Theorem 1 read as a law
  const lab::Results wrong = results(made_up(1.8, 0.75, 3.0));
  CHECK(wrong.exit_code == 1);
  CHECK(wrong.exit_message == "a claim that is proved in this setting does not hold");
}

TEST_CASE("lemmas: options that do not fit are refused before anything is computed") {
  Options options = small_run();
  options.seeds = 2;
  CHECK_THROWS_WITH_AS(check(options), doctest::Contains("--seeds: must be at least 3"),
                       std::invalid_argument);
  options = small_run();
  options.depths = {6};
  CHECK_THROWS_WITH_AS(check(options), doctest::Contains("at least two, to fit"),
                       std::invalid_argument);
  options = small_run();
  options.widths = {64, 64};
  CHECK_THROWS_WITH_AS(check(options), doctest::Contains("64 twice"), std::invalid_argument);
  options = small_run();
  options.widths = {64, 1'000'000};
  CHECK_THROWS_AS(check(options), std::invalid_argument);
}
