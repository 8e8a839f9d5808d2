// Tested by tests/experiments/untrained/gradient_json_test.cpp.
#include "experiments/untrained/gradient_json.hpp"

#include <stdexcept>

#include "experiments/lab/results/json_number.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

struct Key {
  const char* name;
  std::vector<double> GradientMeasurement::*list;
};
constexpr Key kLists[] = {{"w1_grad_norm", &GradientMeasurement::w1_grad_norm},
                          {"w2_grad_norm", &GradientMeasurement::w2_grad_norm},
                          {"in_proj_grad_norm", &GradientMeasurement::in_proj_grad_norm},
                          {"out_proj_grad_norm", &GradientMeasurement::out_proj_grad_norm},
                          {"stream_sq_norm_per_d", &GradientMeasurement::stream_sq_norm_per_d}};

const Json& value_at(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) {
    throw std::runtime_error(std::string("measurement: there is no ") + key);
  }
  return json.at(key);
}

}  // namespace

std::vector<lab::Column> measurement_columns() {
  std::vector<lab::Column> columns{{"loss", "loss"}};
  for (const Key& key : kLists) columns.push_back({key.name, key.name});
  return columns;
}

lab::Row measurement_cells(const GradientMeasurement& measurement) {
  lab::Row row{measurement.loss};
  for (const Key& key : kLists) row.push_back(measurement.*key.list);
  return row;
}

Json json_of(const GradientMeasurement& measurement) {
  Json json = {{"loss", json_number(measurement.loss)}};
  for (const Key& key : kLists) {
    json[key.name] = json_numbers(measurement.*key.list);
  }
  return json;
}

GradientMeasurement measurement_from(const Json& json, std::int64_t layers) {
  GradientMeasurement measurement;
  measurement.loss = number_from(value_at(json, "loss"));
  for (const Key& key : kLists) {
    const Json& list = value_at(json, key.name);
    if (!list.is_array()) {
      throw std::runtime_error(std::string("measurement: not a list: ") + key.name);
    }
    measurement.*key.list = numbers_from(list);
    const auto expected = static_cast<std::size_t>(layers);
    const bool final_norm = key.list == &GradientMeasurement::stream_sq_norm_per_d;
    if (list.size() != expected && !(final_norm && list.size() == expected + 1)) {
      throw std::runtime_error(std::string("measurement: not one number per layer: ") + key.name);
    }
  }
  return measurement;
}

}  // namespace normlab
