#include "experiments/mean_field/mean_field.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/mean_field/summary.hpp"

using namespace normlab;

namespace {

MeanFieldOptions small_run() {
  MeanFieldOptions options;
  options.setting = {
      .layers = 2, .width = 12, .ffn = 24, .tokens = 3, .sequences = 2, .classes = 3};
  options.setting.input.within = 0.25;
  options.seeds = 3;
  return options;
}

MeanFieldOptions small_article() {
  MeanFieldOptions options;
  options.network = MeanFieldOptions::Network::article;
  options.setting.layers = 2;
  options.model = {.d_model = 12, .nhead = 2, .dim_feedforward = 8};
  options.images = 3;
  options.seeds = 2;
  return options;
}

MeanFieldResult run(const MeanFieldOptions& options, int threads = 1) {
  return run_mean_field(options, load_digits(), threads);
}

}  // namespace

TEST_CASE("mean_field: text and JSON are the same bytes for every number of threads") {
  for (const MeanFieldOptions& options : {small_run(), small_article()}) {
    const MeanFieldResult serial = run(options);
    for (const int threads : {2, 3}) {
      const MeanFieldResult result = run(options, threads);
      CHECK(text_of(result) == text_of(serial));
      CHECK(json_of(result) == json_of(serial));
    }
  }
}

TEST_CASE("mean_field: the tables fit 80 columns and have a line per layer and placement") {
  for (const MeanFieldOptions& options : {small_run(), small_article()}) {
    std::istringstream lines(text_of(run(options)));
    int layers = 0;
    for (std::string line; std::getline(lines, line);) {
      CHECK(line.size() <= 80);
      layers += line.starts_with(" 1 ") || line.starts_with(" 2 ") ? 1 : 0;
    }
    CHECK(layers == 3 * 2 * 2);
  }
}

TEST_CASE("mean_field: norms are compared by the root of the mean square, ratios by their mean") {
  PlacementComparison made_up;
  made_up.expected.w2 = {16.0};
  for (double square : {1.0, 17.0}) {
    made_up.measured.emplace_back().gradients.w2 = {square};
    made_up.expected_from_measured.emplace_back().w2 = {square / 4.0};
  }
  const GradientComparison got = gradient_at(made_up, {"W2", &SquaredNorms::w2}, 0);
  CHECK(got.theory == 4.0);
  CHECK(got.simulated.mean == 3.0);
  CHECK(got.ratio_from_measured.mean == 2.0);
  CHECK(got.ratio_from_measured.error == 0.0);
}

TEST_CASE("mean_field: JSON holds theory and every seed, the report a figure of each kind") {
  const MeanFieldResult result = run(small_run());
  const auto document = nlohmann::json::parse(json_of(result));
  REQUIRE(document["placements"].size() == 3);
  const auto& first = document["placements"][0];
  CHECK(first["placement"] == "post");
  CHECK(first["theory"]["gradients"]["w2_sq_norm"].size() == 2);
  CHECK(first["seeds"].size() == 3);
  CHECK(first["seeds"][2]["blocks"][1]["after_ffn"]["same"] ==
        result.placements[0].measured[2].blocks[1].after_ffn.same);
  const Report report = report_of(result, "mean_field");
  CHECK(report.figures.size() == 9);
  CHECK(report.tables.size() == 6);
  CHECK(html_of(report, {.program = "no-such-gnuplot"}).find("res-post") != std::string::npos);
}

TEST_CASE("mean_field: Lemma 2 is drawn where it is about the network") {
  MeanFieldOptions options = small_run();
  options.placements = {Placement::pre};
  const auto series = [&] { return figures_of(run(options))[0].series.size(); };
  CHECK(series() == 2);  // the ffn is twice as wide as the tokens
  options.setting.ffn = options.setting.width;
  CHECK(series() == 4);
}

TEST_CASE("mean_field: the article's network says what it breaks, the simplified one nothing") {
  CHECK(broken_assumptions(small_run()).empty());
  const MeanFieldResult article = run(small_article());
  CHECK(broken_assumptions(article.options).size() == 4);
  CHECK(text_of(article).find("broken:\n  Attention is not uniform: 2 heads") != std::string::npos);
  const MeanFieldSetting& s = article.placements[0].setting;
  CHECK(s.tokens == 16);
  CHECK(s.sequences == 3);
  CHECK(s.one_label_per_sequence);
  CHECK(std::abs(s.input.same - 1.0) < 0.5);
}

TEST_CASE("mean_field: options that do not fit are refused before anything is computed") {
  MeanFieldOptions options = small_run();
  options.placements = {Placement::pre, Placement::pre};
  CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains("must differ"),
                       std::invalid_argument);
  options = small_run();
  options.setting.input.within = 1.5;
  CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains("must be from 0 to 1, got 1.5"),
                       std::invalid_argument);
  options = small_run();
  options.setting.layers = 1'000'000;
  CHECK_THROWS_AS(check_options(options), std::invalid_argument);
  options = small_article();
  options.images = 5000;
  CHECK_THROWS_AS(run(options), std::invalid_argument);
}
