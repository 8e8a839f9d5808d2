#pragma once

#include "core/tape.hpp"

// Activation functions, elementwise: the result has x's shape. NaN stays NaN.
namespace normlab {

// max(x, 0); derivative at 0: 0.
Var relu(const Var& x);
// x Phi(x) with the standard normal distribution function Phi: PyTorch's default GELU.
Var gelu(const Var& x);
// Its approximation x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2: PyTorch's approximate="tanh".
// The two differ (GELU(1) = 0.84134475 and 0.84119199), hence two names.
Var gelu_tanh(const Var& x);
// x sigmoid(x), also called swish.
Var silu(const Var& x);
// 1 / (1 + e^-x).
Var sigmoid(const Var& x);
Var tanh(const Var& x);

}  // namespace normlab
