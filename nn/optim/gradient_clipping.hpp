#pragma once

#include <vector>

#include "core/parameter.hpp"

// As torch.nn.utils.clip_grad_norm_ and clip_grad_value_. Parameters without a gradient do not
// count.
namespace normlab {

// The p-norm of all gradients together, p > 0 or infinite, as one vector; 0 without any. Neither
// overflows nor underflows on the way.
double grad_norm(const std::vector<Parameter*>& parameters, double p = 2.0);

// Multiplies every gradient by min(1, max_norm / (norm + 1e-6)) and returns the norm as it was
// before. So a norm that was too large comes out a millionth below max_norm, and with a norm that
// is not finite gradients become NaN or zero: look at what is returned before you step.
double clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm, double p = 2.0);

// Every element of every gradient into [-limit, limit]. NaN stays NaN.
void clip_grad_value(const std::vector<Parameter*>& parameters, double limit);

}  // namespace normlab
