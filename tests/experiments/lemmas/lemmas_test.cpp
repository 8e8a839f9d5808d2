#include "experiments/lemmas/lemmas.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/lemmas/verdict.hpp"

using namespace normlab;

namespace {

LemmaOptions small_run() {
  LemmaOptions options;
  options.setting = {.width = 24, .ffn = 24, .tokens = 3, .sequences = 2, .classes = 4};
  options.depths = {1, 3};
  options.widths = {8, 16};
  options.seeds = 3;
  return options;
}

// One token of one size in each layer, and last gradients as wanted: for claims whose answer is
// known.
LemmaResult made_up(double post_size, double pre_slope, double depth_exponent) {
  LemmaResult result;
  result.options = small_run();
  for (Placement placement : {Placement::post, Placement::pre}) {
    for (std::int64_t layers : result.options.depths) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        LemmaCell cell{placement, layers, result.options.setting.width, seed};
        for (std::int64_t l = 1; l <= layers; ++l) {
          const double size =
              placement == Placement::post ? post_size : 1.0 + pre_slope * static_cast<double>(l);
          cell.measured.blocks.push_back({{}, {}, {size, 0.0, 0.0}});
        }
        cell.measured.gradients.w2 = {std::pow(static_cast<double>(layers), 2.0 * depth_exponent)};
        result.by_depth.push_back(cell);
      }
    }
    for (std::int64_t width : result.options.widths) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        LemmaCell cell{placement, kDepthOfWidths, width, seed};
        cell.measured.gradients.w2 = {static_cast<double>(width)};
        cell.measured.last_sizes = {1.0, 1.0, 1.0, static_cast<double>(seed)};
        result.by_width.push_back(cell);
      }
    }
  }
  return result;
}

bool close(double got, double expected) { return std::abs(got - expected) < 1e-12; }

}  // namespace

TEST_CASE("lemmas: a claim holds within its margin and four standard errors, else tells the miss") {
  Claim claim{.title = "made up", .measured = {1.2, 0.0}, .low = 0.0, .high = 1.0};
  CHECK(close(claim.miss(), 0.2));
  CHECK_FALSE(claim.holds());
  CHECK(verdict_text(claim) == "does not hold here, by 0.2");
  claim.margin = 0.1;
  claim.measured.error = 0.03;
  CHECK(claim.holds());
  claim.measured.mean = -0.1;
  CHECK(close(claim.miss(), 0.1));
  claim.measured = {0.5, 0.0};
  CHECK(claim.miss() == 0.0);
  CHECK(verdict_text(claim) == "holds");
  claim.measured.mean = std::nan("");
  CHECK_FALSE(claim.holds());
}

TEST_CASE("lemmas: Lemma 2 is held against every layer, the farthest is told") {
  const std::vector<Claim> right = stream_claims(made_up(1.5, 0.75, 0.0));
  REQUIRE(right.size() == 4);
  for (const Claim& each : right) CHECK(each.holds());
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

TEST_CASE("lemmas: the sizes behind boundedness are those of the last block's tokens") {
  const LemmaResult result = run_lemmas(small_run(), 1);
  for (const LemmaCell& cell : result.by_width) {
    const std::vector<double>& sizes = cell.measured.last_sizes;
    REQUIRE(sizes.size() == 6);
    double mean = 0.0;
    for (double each : sizes) mean += each / 6.0;
    CHECK(close(mean, cell.measured.blocks.back().after_ffn.same));
  }
}

TEST_CASE("lemmas: Lemmas 1 and 3 hold, and text, JSON and report tell so on any threads") {
  const LemmaResult result = run_lemmas(small_run(), 1);
  const LemmaResult parallel = run_lemmas(small_run(), 3);
  CHECK(text_of(result) == text_of(parallel));
  std::istringstream lines(text_of(result));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(json_of(result) == json_of(parallel));
  for (const Claim& each : relu_claims(small_run())) CHECK(each.holds());
  const std::vector<Claim> jacobian = jacobian_claims(small_run());
  CHECK(jacobian[0].miss() < 1e-12);
  CHECK(jacobian[1].measured.mean > 1.0);  // |x| is longer than |x - mean|
  const auto document = nlohmann::json::parse(json_of(result));
  CHECK(document["claims"].size() == result.claims.size());
  CHECK(document["by_depth"].size() == 2 * 2 * 3);
  CHECK(document["claims"][0]["must_hold"] == true);
  const Report report = report_of(result, "lemmas");
  CHECK(report.figures.size() == 4);
  CHECK(report.tables[0].rows.size() == result.claims.size());
  CHECK(html_of(report, {.program = "no-such-gnuplot"}).find("Theorem 1") != std::string::npos);
}

TEST_CASE("lemmas: only a proved claim that fails is a failure") {
  LemmaResult result;
  result.claims = {{.title = "made up", .measured = {1.0, 0.0}, .low = 0.0, .high = 0.0}};
  CHECK(result.proved_claims_hold());
  result.claims[0].must_hold = true;
  CHECK_FALSE(result.proved_claims_hold());
}

TEST_CASE("lemmas: options that do not fit are refused before anything is computed") {
  LemmaOptions options = small_run();
  options.seeds = 2;
  CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains("--seeds: must be at least 3"),
                       std::invalid_argument);
  options = small_run();
  options.depths = {6};
  CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains("at least two, to fit"),
                       std::invalid_argument);
  options = small_run();
  options.widths = {64, 64};
  CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains("64 twice"),
                       std::invalid_argument);
  options = small_run();
  options.widths = {64, 1'000'000};
  CHECK_THROWS_AS(check_options(options), std::invalid_argument);
}
