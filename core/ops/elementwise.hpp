#pragma once

#include "core/tape.hpp"

// Functions of one number, applied to every element. A NaN goes in and comes out of every one of
// them: none hides a divergence (but x^0 is 1 for every x, NaN included, as std::pow has it).
namespace normlab {

Var exp(const Var& x);
Var log(const Var& x);
// Derivative at 0: 0 by convention (the true one is infinite), so that a norm at zero has gradient
// 0.
Var sqrt(const Var& x);
Var pow(const Var& x, double exponent);
Var square(const Var& x);
Var abs(const Var& x);  // derivative at 0: 0
Var tanh(const Var& x);
// x limited to [low, high]; the gradient passes where x is inside, ends included. NaN stays NaN.
Var clamp(const Var& x, double low, double high);
Var sigmoid(const Var& x);

}  // namespace normlab
