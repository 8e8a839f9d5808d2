#pragma once

#include <vector>

#include "core/tape.hpp"

// Reductions over any set of axes, negative ones counted from the end; an empty list means all
// axes. With keepdim a reduced axis stays with extent 1, so the result broadcasts against the
// input; otherwise it is removed. Throws std::invalid_argument for an axis that x does not have or
// that is named twice. Long sums are as accurate as short ones (sum_to in broadcast.hpp).
namespace normlab {

using Axes = std::vector<std::int64_t>;

Var sum(const Var& x, const Axes& axes = {}, bool keepdim = false);
// The mean over no elements is 0/0 and refused: std::invalid_argument.
Var mean(const Var& x, const Axes& axes = {}, bool keepdim = false);
// A NaN among the elements makes the maximum NaN. Elements that tie share the gradient equally, as
// in PyTorch's amax. The maximum of no elements is refused: std::invalid_argument.
Var max(const Var& x, const Axes& axes = {}, bool keepdim = false);

// Running sums along one axis, in x's shape: element i is x_0 + ... + x_i.
Var cumsum(const Var& x, std::int64_t axis);

}  // namespace normlab
