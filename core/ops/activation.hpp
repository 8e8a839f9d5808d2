#pragma once

#include "core/tape.hpp"

// Activation functions of transformer feed-forward networks, elementwise.
namespace normlab {

// max(x, 0); derivative at 0: 0. NaN stays NaN.
Var relu(const Var& x);
// x Phi(x) with the normal distribution function Phi, by erf: PyTorch's default GELU.
Var gelu(const Var& x);
// Its approximation x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2: PyTorch's approximate="tanh".
// The two differ (GELU(1) = 0.84134475 and 0.84119199), hence two names.
Var gelu_tanh(const Var& x);
// x sigmoid(x), also called swish.
Var silu(const Var& x);

}  // namespace normlab
