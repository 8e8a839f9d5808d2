// The text and the JSON of init_gradients, from numbers made by hand.
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/experiments/init_gradients/init_gradients_cases.hpp"

using namespace normlab;
using namespace normlab::init_gradients;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two layers, one of them in the depth table, two seeds, one scale; seed s adds s to every number.
Measured made_by_hand() {
  Measured result;
  result.options.model = {.d_model = 6, .nhead = 2, .dim_feedforward = 5};
  result.options.images = 2;
  result.options.seeds = {0, 1};
  result.options.layers = {2, 4};
  result.options.profile_layers = 2;
  result.options.scales = {{"unit", 1.0}};
  // Pixels 1 and -1 in turn: mean 0, sample deviation sqrt(128 / 127).
  result.tokens = {Tensor::ones({2, 16, 4}), {0, 2}};
  for (std::int64_t i = 0; i < 128; i += 2) result.tokens.patches.mutable_data()[i] = -1.0;
  for (const Placement placement : result.options.placements) {
    result.finite_differences.push_back({placement, 1, 1.0 + 1e-9, 1.0, 2.3});
    result.finite_differences.push_back({placement, 6, 1.0 - 2.5e-8, 1.0, 2.3});
  }
  result.norm_agreement = {4.4e-16, 0.5};
  for (const std::int64_t layers : {2, 4}) {
    for (const Placement placement : result.options.placements) {
      for (const std::uint64_t seed : result.options.seeds) {
        const double s = static_cast<double>(seed) + (placement == Placement::pre ? 10.0 : 0.0);
        std::vector<double> norms{2.0 + s, 1.0 + s}, stream{1.5 + s, 2.5 + s};
        if (layers == 4) norms.insert(norms.end(), {0.5 + s, 0.25 + s});
        if (placement == Placement::pre) stream.push_back(7.0 + s);
        result.points.push_back(
            {{layers, placement, seed, 1.0}, {2.5 + s, norms, norms, norms, norms, stream}});
      }
    }
  }
  return result;
}

std::string json(const Measured& measured) { return lab::to_json(results(measured)); }

Json json_points(const Measured& measured) {
  return Json::parse(json(measured))["tables"]["points"];
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("article_table: the layout of both tables, to the letter") {
  const std::string text = article_table(made_by_hand());
  const std::size_t first_line = text.find('\n') + 1;
  CHECK(text.starts_with("normlab "));
  CHECK(text.substr(0, first_line).ends_with(" | seeds [0, 1]\n"));
  CHECK(text.substr(first_line) ==
        "patches (2, 16, 4) pixel mean 0.0e+00 std 1.004 | class counts [1, 0, 1]\n"
        "C1 post-norm layer 1: autograd vs finite difference, rel err 1.0e-09\n"
        "C1 post-norm layer 6: autograd vs finite difference, rel err 2.5e-08\n"
        "C1 pre -norm layer 1: autograd vs finite difference, rel err 1.0e-09\n"
        "C1 pre -norm layer 6: autograd vs finite difference, rel err 2.5e-08\n"
        "C2 max |RMSNorm - LayerNorm|: centred tokens 4.4e-16, uncentred tokens 5.0e-01\n"
        "\n"
        "L = 2: ||dLoss/dW2|| per layer (median over seeds [min, max]); |x|^2/d of the stream each "
        "LN sees\n"
        "layer   post-norm grad          pre-norm grad          post |x5|^2/d  pre |x_l|^2/d\n"
        "    1  2.5000 [2.0000, 3.0000]  12.5000 [12.0000, 13.0000]          2.00         12.00\n"
        "    2  1.5000 [1.0000, 2.0000]  11.5000 [11.0000, 12.0000]          3.00         13.00\n"
        "final LN input (pre-norm) |x|^2/d: 17.50\n"
        "post-norm top/bottom gradient ratio: median 0.58 [0.50, 0.67]\n"
        "pre -norm top/bottom gradient ratio: median 0.92 [0.92, 0.92]\n"
        "\n"
        "last layer ||dLoss/dW2_L|| (median over seeds) against depth L\n"
        "input scale    L   post-norm   pre-norm   pre-norm * sqrt(L)\n"
        "unit           2      1.5000    11.5000     16.2635\n"
        "unit           4      0.7500    10.7500     21.5000\n"
        "\n");
}

TEST_CASE("article_table: with one placement its columns and lines only") {
  Measured result = made_by_hand();
  result.options.placements = {Placement::post};
  result.options.layers = {2};
  const std::string text = article_table(result);
  CHECK(text.find("layer   post-norm grad         post |x5|^2/d\n"
                  "    1  2.5000 [2.0000, 3.0000]          2.00\n") != std::string::npos);
  CHECK(text.find("input scale    L   post-norm\nunit           2      1.5000\n") !=
        std::string::npos);
  CHECK(text.find("final LN input") == std::string::npos);
}

TEST_CASE("article_table: numbers that are not finite are shown as such") {
  Measured result = made_by_hand();
  for (Point& point : result.points) point.measured.w2_grad_norm.front() = kInfinity;
  result.points.front().measured.w2_grad_norm.back() = kNaN;
  const std::string text = article_table(result);
  CHECK(text.find("    1  inf [inf, inf]  inf [inf, inf] ") != std::string::npos);
  CHECK(text.find("    2  nan [nan, nan]  11.5000 ") != std::string::npos);
}

TEST_CASE("article_table: another norm than the published one is named") {
  Measured result = made_by_hand();
  result.options.model.norm = "rmsnorm";
  const std::string text = article_table(result);
  CHECK(text.find(" | seeds [0, 1] | norm rmsnorm\n") != std::string::npos);
  CHECK(text.find("of the stream each rmsnorm sees\n") != std::string::npos);
  CHECK(text.find("final rmsnorm input (pre-norm)") != std::string::npos);
  CHECK(text.find("LN") == std::string::npos);
}

TEST_CASE("init_gradients, JSON: a row for each network, and the scales as numbers") {
  const Json points = json_points(made_by_hand());
  REQUIRE(points.size() == 8);
  for (const Json& point : points) {
    CHECK(keys(point) == std::vector<std::string>{"layers", "placement", "seed", "scale", "loss",
                                                  "w1_grad_norm", "w2_grad_norm",
                                                  "in_proj_grad_norm", "out_proj_grad_norm",
                                                  "stream_sq_norm_per_d"});
  }
  CHECK(points[0]["placement"] == "post");
  CHECK(points[2]["placement"] == "pre");
  CHECK(points[3]["seed"] == 1);
  CHECK(points[3]["stream_sq_norm_per_d"] == Json({12.5, 13.5, 18.0}));
  const Json document = Json::parse(json(made_by_hand()));
  CHECK(document["config"]["input_scale_values"] == Json({1.0}));
  CHECK(document["tables"]["by_depth"][1]["pre_times_root_layers"] == 21.5);
}

TEST_CASE("init_gradients, JSON: numbers come back as the same doubles, and seeds exactly") {
  Measured result = made_by_hand();
  const std::vector<double> hard{
      0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.12345678,
      1e22};
  result.points[0].measured.w1_grad_norm = hard;
  result.options.seeds.front() = std::numeric_limits<std::uint64_t>::max();
  for (Point& point : result.points) {
    if (point.configuration.seed == 0) point.configuration.seed = result.options.seeds.front();
  }
  const Json point = json_points(result)[0];
  CHECK(point["w1_grad_norm"].get<std::vector<double>>() == hard);
  CHECK(point["seed"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("init_gradients, JSON: what is not finite is a string, never null") {
  Measured result = made_by_hand();
  result.points[0].measured.loss = kNaN;
  result.points[0].measured.w1_grad_norm = {kInfinity, -kInfinity, 1.0};
  const std::string text = json(result);
  const Json point = json_points(result)[0];
  CHECK(point["loss"] == "nan");
  CHECK(point["w1_grad_norm"] == Json({"inf", "-inf", 1.0}));
  CHECK(text.find("null") == std::string::npos);
}

TEST_CASE("init_gradients, JSON: a real run is written number by number") {
  const Measured result = measure(small_run(), {});
  const Json points = json_points(result);
  CHECK(points.size() == result.points.size());
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    CHECK(points[i]["w2_grad_norm"].get<std::vector<double>>() ==
          result.points[i].measured.w2_grad_norm);
    CHECK(points[i]["loss"].get<double>() == result.points[i].measured.loss);
  }
}
