#pragma once

#include <optional>

#include "nn/norms/norm_registry.hpp"

// The short check of a norm's backward rule: on one input, in milliseconds, for programs that are
// about to believe its gradients. check_norm is the long one.
namespace normlab {

// Two sequences of three tokens, (2, 3, width), always the same. Their mean is not zero, so that
// centring and its absence differ.
Tensor sample_tokens(std::int64_t width);

// Rounding and the step of the differences leave about 1e-9.
inline constexpr double kLargestGradientError = 1e-6;

// The worst relative error of the gradients by x (N, T, d) and by each parameter, against central
// differences. At the layer's initialization; or, if a gradient is zero there because a factor
// starts at zero, at random parameters. Infinite for NaN, and for a gradient that stays zero.
double gradient_error(const NormEntry& entry, const Tensor& x, std::optional<double> eps = {});

}  // namespace normlab
