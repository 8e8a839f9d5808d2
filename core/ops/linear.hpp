#pragma once

#include <optional>

#include "core/tape.hpp"

namespace normlab {

// y = x W^T + b, as torch.nn.functional.linear: x (..., in), weight (out, in), bias (out), result
// (..., out). Throws std::invalid_argument naming the argument whose shape does not fit.
Var linear(const Var& x, const Var& weight, const std::optional<Var>& bias = std::nullopt);

}  // namespace normlab
