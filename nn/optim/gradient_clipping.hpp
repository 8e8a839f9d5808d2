#pragma once

#include <vector>

#include "core/parameter.hpp"

// As torch.nn.utils.clip_grad_norm_ and clip_grad_value_. Parameters without a gradient
// are skipped.
namespace normlab {

// The p-norm (p > 0 or infinite) of all gradients as one vector; 0 without gradients. Intermediate
// results neither overflow nor underflow. Throws std::invalid_argument for another p.
double grad_norm(const std::vector<Parameter*>& parameters, double p = 2.0);

// Multiplies every gradient by min(1, max_norm / (norm + 1e-6)) and returns the norm before
// clipping; a clipped norm is about a millionth below max_norm. If the norm is not finite the
// gradients become NaN or zero: check the returned value before stepping. Throws
// std::invalid_argument unless max_norm is finite and >= 0, and p > 0.
double clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm, double p = 2.0);

// Clamps every element of every gradient to [-limit, limit]; NaN stays NaN. Throws
// std::invalid_argument unless limit is finite and >= 0.
void clip_grad_value(const std::vector<Parameter*>& parameters, double limit);

}  // namespace normlab
