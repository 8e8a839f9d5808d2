// Tested by tests/nn/layers/positional_encoding_test.cpp.
#include "nn/layers/positional_encoding.hpp"

#include <cmath>
#include <string>

#include "core/check.hpp"

namespace normlab {

namespace {

constexpr double kSlowest =
    10000.0;  // the first hand turns almost this many times faster than the last

}  // namespace

Tensor sinusoidal_positions(std::int64_t length, std::int64_t width) {
  check(length >= 0, "sinusoidal_positions", "length", "must not be negative",
        [&] { return std::to_string(length); });
  check(width >= 1, "sinusoidal_positions", "width", "must be at least 1",
        [&] { return std::to_string(width); });
  Tensor positions = Tensor::uninitialized({length, width});
  double* out = positions.mutable_data();
  for (std::int64_t column = 0; column < width; ++column) {
    const bool is_sine = column % 2 == 0;
    const auto pair = static_cast<double>(is_sine ? column : column - 1);  // 2 i
    const double speed = std::pow(kSlowest, -pair / static_cast<double>(width));
    for (std::int64_t row = 0; row < length; ++row) {
      const double angle = static_cast<double>(row) * speed;
      out[row * width + column] = is_sine ? std::sin(angle) : std::cos(angle);
    }
  }
  return positions;
}

}  // namespace normlab
