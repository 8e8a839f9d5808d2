#pragma once

#include <vector>

#include "core/tape.hpp"

namespace normlab {

// (x - mean) / sqrt(var + eps) with one mean and one biased variance for all elements that differ
// only in the given axes; the shape of x. Layer, batch, instance and group normalization are this
// with different axes:
//
//   x (N, C, H, W):  LayerNorm([C, H, W]) {1, 2, 3}   LayerNorm per pixel {1}
//                    BatchNorm {0, 2, 3}              InstanceNorm {2, 3}
//   GroupNorm: InstanceNorm's axes and the channels of a group, after splitting C into (groups,
//   C/groups).
//
// permute moves the axes to the end and back, so the arithmetic, forward and backward, is that of
// core/ops/layer_norm.cpp. An x without elements is returned as it is.
Var normalize_axes(const Var& x, const std::vector<std::int64_t>& axes, double eps);

// One value per channel, (C), reshaped to (C, 1, ..., 1) with rank - 1 axes: this broadcasts
// against x (N, C, ...) of that rank.
Var per_channel(const Var& channels, std::int64_t rank);

// weight * x + bias with one weight and one bias per channel, both (C): x (N, C, ...) -> (N, C,
// ...). A null pointer leaves out the factor or summand.
Var affine_per_channel(const Var& x, Parameter* weight, Parameter* bias);

}  // namespace normlab
