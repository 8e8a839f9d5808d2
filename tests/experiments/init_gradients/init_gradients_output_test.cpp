// The text and the JSON of init_gradients, from results made by hand.
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/experiments/init_gradients/init_gradients_cases.hpp"

using namespace normlab;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two layers, one of them in the depth table, two seeds, one scale; seed s adds s to every number.
InitGradientsResult made_by_hand() {
  InitGradientsResult result;
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
        result.cells.push_back(
            {{layers, placement, seed, 1.0}, {2.5 + s, norms, norms, norms, norms, stream}});
      }
    }
  }
  return result;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("text_of: the layout of both tables, to the letter") {
  const std::string text = text_of(made_by_hand());
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

TEST_CASE("text_of: with one placement its columns and lines only") {
  InitGradientsResult result = made_by_hand();
  result.options.placements = {Placement::post};
  result.options.layers = {2};
  const std::string text = text_of(result);
  CHECK(text.find("layer   post-norm grad         post |x5|^2/d\n"
                  "    1  2.5000 [2.0000, 3.0000]          2.00\n") != std::string::npos);
  CHECK(text.find("input scale    L   post-norm\nunit           2      1.5000\n") !=
        std::string::npos);
  CHECK(text.find("final LN input") == std::string::npos);
}

TEST_CASE("text_of: numbers that are not finite are shown as such") {
  InitGradientsResult result = made_by_hand();
  for (MeasuredCell& each : result.cells) each.measured.w2_grad_norm.front() = kInfinity;
  result.cells.front().measured.w2_grad_norm.back() = kNaN;
  const std::string text = text_of(result);
  CHECK(text.find("    1  inf [inf, inf]  inf [inf, inf] ") != std::string::npos);
  CHECK(text.find("    2  nan [nan, nan]  11.5000 ") != std::string::npos);
}

TEST_CASE("json_of: the keys and their order") {
  const Json json = Json::parse(json_of(made_by_hand()));
  CHECK(keys_of(json) == std::vector<std::string>{"experiment", "version", "config", "cells"});
  CHECK(json["experiment"] == "init_gradients");
  CHECK(json["config"]["width"] == 6);
  CHECK(json["config"]["seeds"] == Json({0, 1}));
  CHECK(json["config"]["layers"] == Json({2, 4}));
  CHECK(json["config"]["norm"] == "layernorm");
  REQUIRE(json["cells"].size() == 8);
  for (const Json& cell : json["cells"]) {
    CHECK(keys_of(cell) == std::vector<std::string>{"layers", "placement", "seed", "scale", "loss",
                                                    "w1_grad_norm", "w2_grad_norm",
                                                    "in_proj_grad_norm", "out_proj_grad_norm",
                                                    "stream_sq_norm_per_d"});
  }
  CHECK(json["cells"][0]["placement"] == "post");
  CHECK(json["cells"][2]["placement"] == "pre");
  CHECK(json["cells"][3]["seed"] == 1);
  CHECK(json["cells"][3]["stream_sq_norm_per_d"] == Json({12.5, 13.5, 18.0}));
}

TEST_CASE("json_of: numbers come back as the same doubles, and seeds exactly") {
  InitGradientsResult result = made_by_hand();
  const std::vector<double> hard{
      0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.12345678,
      1e22};
  result.cells[0].measured.w1_grad_norm = hard;
  result.cells[0].cell.seed = std::numeric_limits<std::uint64_t>::max();
  const Json cell = Json::parse(json_of(result))["cells"][0];
  CHECK(cell["w1_grad_norm"].get<std::vector<double>>() == hard);
  CHECK(cell["seed"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("json_of: what is not finite is a string, never null") {
  InitGradientsResult result = made_by_hand();
  result.cells[0].measured.loss = kNaN;
  result.cells[0].measured.w1_grad_norm = {kInfinity, -kInfinity, 1.0};
  const std::string text = json_of(result);
  const Json cell = Json::parse(text)["cells"][0];
  CHECK(cell["loss"] == "nan");
  CHECK(cell["w1_grad_norm"] == Json({"inf", "-inf", 1.0}));
  CHECK(text.find("null") == std::string::npos);
}

TEST_CASE("json_of: a real run is written number by number") {
  const InitGradientsResult result = run_init_gradients(small_run(), load_digits(), 1);
  const Json json = Json::parse(json_of(result));
  CHECK(json["cells"].size() == result.cells.size());
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    CHECK(json["cells"][i]["w2_grad_norm"].get<std::vector<double>>() ==
          result.cells[i].measured.w2_grad_norm);
    CHECK(json["cells"][i]["loss"].get<double>() == result.cells[i].measured.loss);
  }
}
