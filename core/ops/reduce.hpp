#pragma once

#include <vector>

#include "core/tape.hpp"

// Reductions over any set of axes. An empty list means all axes. With keepdim a reduced axis stays
// with extent 1, so that the result broadcasts against the input.
namespace normlab {

using Axes = std::vector<std::int64_t>;

Var sum(const Var& x, const Axes& axes = {}, bool keepdim = false);
// The mean over no elements is 0/0 and refused: std::invalid_argument.
Var mean(const Var& x, const Axes& axes = {}, bool keepdim = false);
// A NaN among the elements makes the maximum NaN. Where several elements tie, each gets an equal
// share of the gradient, as PyTorch's amax gives it.
Var max(const Var& x, const Axes& axes = {}, bool keepdim = false);

}  // namespace normlab
