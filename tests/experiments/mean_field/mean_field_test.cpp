#include "experiments/mean_field/mean_field.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/mean_field/layer_moments.hpp"

using namespace normlab;
using namespace normlab::mean_field;

namespace {

Options small_run() {
  Options options;
  options.setting = {.layers = 2, .width = 12, .tokens = 3, .sequences = 2, .classes = 3};
  options.ffn_ratio = 2;
  options.setting.input.within = 0.25;
  options.seeds = 3;
  return options;
}

Options small_article() {
  Options options;
  options.network = "article";
  options.setting.layers = 2;
  options.model = {.d_model = 12, .nhead = 2, .dim_feedforward = 8};
  options.images = 3;
  options.seeds = 2;
  return options;
}

Measured run(const Options& options, int threads = 1) {
  return measure(options, {.threads = threads});
}

std::string text(const Measured& measured) { return lab::to_text(results(measured)); }
std::string json(const Measured& measured) { return lab::to_json(results(measured)); }

}  // namespace

TEST_CASE("mean_field: text and JSON are the same bytes for every number of threads") {
  for (const Options& options : {small_run(), small_article()}) {
    const Measured serial = run(options);
    for (const int threads : {2, 3}) {
      const Measured result = run(options, threads);
      CHECK(text(result) == text(serial));
      CHECK(json(result) == json(serial));
    }
  }
}

TEST_CASE("mean_field: the tables fit 80 columns and have a line per layer and placement") {
  for (const Options& options : {small_run(), small_article()}) {
    std::istringstream lines(text(run(options)));
    int layers = 0;
    for (std::string line; std::getline(lines, line);) {
      CHECK(line.size() <= 80);
      layers += line.starts_with("1 ") || line.starts_with("2 ") ? 1 : 0;
    }
    CHECK(layers == 3 * 2 * 2);
  }
}

TEST_CASE("mean_field: norms are compared by the root of the mean square, ratios by their mean") {
  Comparison made_up;
  made_up.expected.w2 = {16.0};
  for (double square : {1.0, 17.0}) {
    made_up.measured.emplace_back().gradients.w2 = {square};
    made_up.expected_from_measured.emplace_back().w2 = {square / 4.0};
  }
  const LayerGradient got = layer_gradient(made_up, {"w2", "W2", &SquaredNorms::w2}, 0);
  CHECK(got.theory == 4.0);
  CHECK(got.simulated.mean == 3.0);
  CHECK(got.ratio_from_measured.mean == 2.0);
  CHECK(got.ratio_from_measured.error == 0.0);
}

TEST_CASE("mean_field: JSON holds theory and every seed, the page a figure of each kind") {
  const Measured result = run(small_run());
  const lab::Results found = results(result);
  const auto document = nlohmann::json::parse(lab::to_json(found));
  CHECK(document["config"]["ffn"] == 24);
  CHECK(document["config"]["width"] == 12);
  const nlohmann::json& tables = document["tables"];
  REQUIRE(tables["theory"].size() == 3);
  CHECK(tables["theory"][0]["placement"] == "post");
  CHECK(tables["theory"][0]["w2_sq_norm"].size() == 2);
  CHECK(tables["seeds"].size() == 3 * 3);
  CHECK(tables["seeds"][2]["after_ffn_same"][1] ==
        result.placements[0].measured[2].blocks[1].after_ffn.same);
  CHECK(tables["moments"].size() == 3 * 2);
  CHECK(tables["moments"][5]["placement"] == "res-post");
  CHECK(found.figures.size() == 9);
  CHECK(lab::to_html(found, {.program = "no-such-gnuplot"}).find("res-post") != std::string::npos);
}

TEST_CASE("mean_field: Lemma 2 is drawn where it is about the network") {
  Options options = small_run();
  options.placements = {Placement::pre};
  const auto series = [&] { return figures(run(options))[0].series.size(); };
  CHECK(series() == 2);  // the ffn is twice as wide as the tokens
  options.ffn_ratio = 1;
  CHECK(series() == 4);
}

TEST_CASE("mean_field: the article's network says what it breaks, the simplified one nothing") {
  CHECK(broken_assumptions(small_run()).empty());
  const Measured article = run(small_article());
  CHECK(broken_assumptions(article.options).size() == 4);
  CHECK(text(article).find("broken assumptions:\n  Attention is not uniform: 2 heads") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(json(article))["tables"]["broken_assumptions"].size() == 4);
  CHECK(nlohmann::json::parse(json(run(small_run())))["tables"]["broken_assumptions"].empty());
  const MeanFieldSetting& s = article.placements[0].setting;
  CHECK(s.tokens == 16);
  CHECK(s.sequences == 3);
  CHECK(s.one_label_per_sequence);
  CHECK(std::abs(s.input.same - 1.0) < 0.5);
}

TEST_CASE("mean_field: options that do not fit are refused before anything is computed") {
  Options options = small_run();
  options.placements = {Placement::pre, Placement::pre};
  CHECK_THROWS_WITH_AS(check(options), doctest::Contains("must differ"), std::invalid_argument);
  options = small_run();
  options.setting.input.within = 1.5;
  CHECK_THROWS_WITH_AS(check(options), doctest::Contains("must be from 0 to 1, got 1.5"),
                       std::invalid_argument);
  options = small_run();
  options.setting.layers = 1'000'000;
  CHECK_THROWS_AS(check(options), std::invalid_argument);
  options = small_article();
  options.images = 5000;
  CHECK_THROWS_AS(run(options), std::invalid_argument);
}
