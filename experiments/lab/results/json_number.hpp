#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

namespace normlab {

// A number as every experiment writes it: JSON has none for infinity and NaN, which become the
// strings "inf", "-inf" and "nan".
inline nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

// Reads one back, bit for bit. Throws std::runtime_error for anything else.
inline double number_from(const nlohmann::ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("not a number: " + json.dump());
}

// Lists of them.
inline nlohmann::ordered_json json_numbers(const std::vector<double>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (double value : values) list.push_back(json_number(value));
  return list;
}
inline std::vector<double> numbers_from(const nlohmann::ordered_json& list) {
  if (!list.is_array()) throw std::runtime_error("not a list of numbers: " + list.dump());
  std::vector<double> values;
  for (const auto& number : list) values.push_back(number_from(number));
  return values;
}

}  // namespace normlab
