#pragma once

#include "core/tape.hpp"

// Functions of one number, applied to every element. A NaN goes in and comes out of every one of
// them: none hides a divergence.
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
Var sigmoid(const Var& x);

}  // namespace normlab
