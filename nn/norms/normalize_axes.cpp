// Tested by tests/nn/norms/normalize_axes_test.cpp.
#include "nn/norms/normalize_axes.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/shape_ops.hpp"

namespace normlab {

namespace {

// For permute: all other axes in their order, then the given ones.
std::vector<std::int64_t> axes_last(std::int64_t rank, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> dims;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) dims.push_back(axis);
  }
  dims.insert(dims.end(), axes.begin(), axes.end());
  return dims;
}

// permute(permute(x, dims), inverse(dims)) is x.
std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> back(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    back[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  }
  return back;
}

}  // namespace

Var normalize_axes(const Var& x, const std::vector<std::int64_t>& axes, double eps) {
  if (x.value().numel() == 0) return x;  // an empty batch has no statistics to share
  const std::int64_t rank = x.value().rank(), shared = std::ssize(axes);
  const std::vector<std::int64_t> dims = axes_last(rank, axes);
  const Var rows = permute(x, dims);
  return permute(
      layer_norm(rows, rows.shape().axes(rank - shared, rank), std::nullopt, std::nullopt, eps),
      inverse(dims));
}

Var per_channel(const Var& channels, std::int64_t rank) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank) - 1, 1);
  extents.front() = channels.value().numel();
  return reshape(channels, extents);
}

Var affine_per_channel(const Var& x, Parameter* weight, Parameter* bias) {
  const std::int64_t rank = x.value().rank();
  Var y = x;
  if (weight != nullptr) y = y * per_channel(x.tape().watch(*weight), rank);
  if (bias != nullptr) y = y + per_channel(x.tape().watch(*bias), rank);
  return y;
}

}  // namespace normlab
