#pragma once

#include <optional>

#include "core/tape.hpp"

namespace normlab {

// Layer normalization (Ba, Kiros and Hinton 2016), as torch.nn.functional.layer_norm:
//
//   y = weight * (x - mean) / sqrt(var + eps) + bias
//
// with one mean and one biased variance (divisor: the number of elements) per row, a row being the
// trailing axes of x that make up `normalized_shape`. weight and bias have that shape.
//
// x (..., normalized_shape), result of x's shape; std::invalid_argument naming the argument if a
// shape does not fit, or unless eps is finite and at least 0. A constant row gives exactly the
// bias, also at eps = 0. Rows keep their accuracy for any common offset, and anywhere in the double
// range including subnormal numbers, as long as the difference of two elements is itself a double.
Var layer_norm(const Var& x, const Shape& normalized_shape,
               const std::optional<Var>& weight = std::nullopt,
               const std::optional<Var>& bias = std::nullopt, double eps = 1e-5);

}  // namespace normlab
