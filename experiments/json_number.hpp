#pragma once

#include <cmath>

#include <nlohmann/json.hpp>

namespace normlab {

// A number as every experiment writes it: JSON has none for infinity and NaN, which become the
// strings "inf", "-inf" and "nan".
inline nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

}  // namespace normlab
