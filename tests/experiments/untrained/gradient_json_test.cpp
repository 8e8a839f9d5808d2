#include "experiments/untrained/gradient_json.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"

using namespace normlab;
using Json = nlohmann::ordered_json;

TEST_CASE("GradientMeasurement: JSON gives every bit back, infinity and NaN included") {
  GradientMeasurement m;
  m.loss = 0.1 + 0.2;
  m.w1_grad_norm = {1.0 / 3.0, std::numeric_limits<double>::infinity()};
  m.w2_grad_norm = {5e-324, -std::numeric_limits<double>::infinity()};
  m.in_proj_grad_norm = {std::numeric_limits<double>::quiet_NaN(), 1.0};
  m.out_proj_grad_norm = {0.0, 2.0};
  m.stream_sq_norm_per_d = {1e308, 7.0, 8.0};  // and the final norm's
  const GradientMeasurement back = measurement_from(Json::parse(json_of(m).dump()), 2);
  CHECK(back.loss == m.loss);
  CHECK(back.w1_grad_norm == m.w1_grad_norm);
  CHECK(back.w2_grad_norm == m.w2_grad_norm);
  CHECK(std::isnan(back.in_proj_grad_norm.at(0)));
  CHECK(back.out_proj_grad_norm == m.out_proj_grad_norm);
  CHECK(back.stream_sq_norm_per_d == m.stream_sq_norm_per_d);
}

TEST_CASE("measurement_from: what is missing, no number, or of another depth is named") {
  GradientMeasurement one;
  for (auto* list : {&one.w1_grad_norm, &one.w2_grad_norm, &one.in_proj_grad_norm,
                     &one.out_proj_grad_norm, &one.stream_sq_norm_per_d}) {
    *list = {1.0};
  }
  const auto refused = [](const Json& json, std::int64_t layers, const char* message) {
    CHECK_THROWS_WITH_AS(measurement_from(json, layers), message, std::runtime_error);
  };
  Json json = json_of(one);
  CHECK(measurement_from(json, 1).w2_grad_norm == one.w2_grad_norm);
  refused(json, 2, "measurement: not one number per layer: w1_grad_norm");
  json["w2_grad_norm"] = Json::array();
  refused(json, 1, "measurement: not one number per layer: w2_grad_norm");
  json["w1_grad_norm"] = "many";
  refused(json, 1, "measurement: not a list: w1_grad_norm");
  json.erase("w1_grad_norm");
  refused(json, 1, "measurement: there is no w1_grad_norm");
  CHECK_THROWS_WITH_AS(number_from("ten"), "not a number: \"ten\"", std::runtime_error);
}
