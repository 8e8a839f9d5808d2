#pragma once

#include <vector>

#include "core/tape.hpp"

namespace normlab {

// (x - mean) / sqrt(var + eps) with one mean and one biased variance for all elements that differ
// only in the given axes. Layer, batch, instance and group normalization are this with different
// axes:
//
//   x (N, C, H, W):  LayerNorm([C, H, W]) {1, 2, 3}   LayerNorm per pixel {1}
//                    BatchNorm {0, 2, 3}              InstanceNorm {2, 3}
//   GroupNorm: InstanceNorm's axes and the channels of a group, after splitting C into (groups,
//   C/groups).
//
// The axes are brought to the end and back by permute, so the arithmetic, forward and backward, is
// that of core/ops/layer_norm.cpp.
Var normalize_axes(const Var& x, const std::vector<std::int64_t>& axes, double eps);

// weight * x + bias with one weight and bias per channel, the channels being axis 1 of x (N, C,
// ...). Either may be absent.
Var affine_per_channel(const Var& x, Parameter* weight, Parameter* bias);

}  // namespace normlab
