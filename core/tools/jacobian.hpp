#pragma once

#include <functional>

#include "core/tape.hpp"

namespace normlab {

// d(y)/d(x) as a matrix (elements of y, elements of x), by one reverse pass per element of y. x may
// be any Var that y was computed from, a leaf or an intermediate value. No gradient is changed.
Tensor jacobian(const Var& y, const Var& x);

// The same by central differences of a function of tensors: two evaluations per element of x, with
// that element moved by step * max(1, |x|).
Tensor numerical_jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                          double step = 1e-6);

}  // namespace normlab
