#pragma once

#include "core/tape.hpp"

// Functions of one number, applied to every element; the result has x's shape. NaN stays NaN in all
// of them, so none hides a divergence (except x^0, which is 1 for every x, NaN included, as in
// std::pow). Activation functions, sigmoid and tanh among them, are in activation.hpp.
namespace normlab {

Var exp(const Var& x);
Var log(const Var& x);
// Derivative at 0: 0 by convention (the true one is infinite), which gives a norm at zero the
// gradient 0.
Var sqrt(const Var& x);
Var pow(const Var& x, double exponent);
Var square(const Var& x);
// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
Var erf(const Var& x);
Var abs(const Var& x);  // derivative at 0: 0
// x limited to [low, high]; the gradient passes where x is inside, ends included. Throws
// std::invalid_argument unless low <= high.
Var clamp(const Var& x, double low, double high);

// The same values as a constant: no gradient flows through it to x.
Var detach(const Var& x);

}  // namespace normlab
