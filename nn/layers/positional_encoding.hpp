#pragma once

#include <cstdint>

#include "core/tensor.hpp"

namespace normlab {

// The position of a token as a vector that is added to its embedding (Vaswani et al. 2017, section
// 3.5) -> (length, width):
//
//   PE(position, 2 i)     = sin(position / 10000^(2 i / width))
//   PE(position, 2 i + 1) = cos(position / 10000^(2 i / width))
//
// Each pair (sin, cos) is a clock hand that turns at its own speed, from one radian per position
// down to almost 1/10000: a step of k positions rotates every pair by a fixed angle, wherever it
// starts. An odd width ends in a sine without its cosine.
//
// Positions count from 0, and the first row is (0, 1, 0, 1, ...). Throws std::invalid_argument for
// a negative length or a width below 1.
Tensor sinusoidal_positions(std::int64_t length, std::int64_t width);

}  // namespace normlab
