#pragma once

#include "core/tape.hpp"

// Both keep the shape of x and work on every slice along one axis (negative: counted from the end);
// std::invalid_argument if x has no such axis. NaN or +infinity in a slice makes all of it NaN.
//
// One rule for a slice of only -infinity (fully masked), here and in cross_entropy: it has no
// distribution, so softmax is 0, log_softmax is -infinity, the cross entropy of a target is
// +infinity, and in all three the gradient is exactly 0. (PyTorch gives NaN.)
namespace normlab {

// e^x / sum(e^x).
Var softmax(const Var& x, std::int64_t axis = -1);
// x - ln(sum(e^x)), accurate also where one element outweighs the others and its result is near 0.
Var log_softmax(const Var& x, std::int64_t axis = -1);

}  // namespace normlab
