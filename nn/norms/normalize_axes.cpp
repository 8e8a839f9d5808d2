// Tested by tests/nn/norms/normalize_axes_test.cpp.
#include "nn/norms/normalize_axes.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/shape_ops.hpp"

namespace normlab {

namespace {

// The other axes in their order, then the given ones.
std::vector<std::int64_t> axes_last(std::int64_t rank, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return back;
}

Var per_channel(const Var& x, Parameter& parameter) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(x.value().rank()) - 1, 1);
  extents.front() = parameter.value.numel();
  return reshape(x.tape().watch(parameter), extents);
}

}  // namespace

Var normalize_axes(const Var& x, const std::vector<std::int64_t>& axes, double eps) {
  if (x.value().numel() == 0) return x;  // an empty batch has no statistics to share
  const std::int64_t rank = x.value().rank(), shared = std::ssize(axes);
  const std::vector<std::int64_t> order = axes_last(rank, axes);
  const Var rows = permute(x, order);
  return permute(
      layer_norm(rows, rows.shape().axes(rank - shared, rank), std::nullopt, std::nullopt, eps),
      inverse(order));
}

Var affine_per_channel(const Var& x, Parameter* weight, Parameter* bias) {
  Var y = x;
  if (weight != nullptr) y = y * per_channel(x, *weight);
  if (bias != nullptr) y = y + per_channel(x, *bias);
  return y;
}

}  // namespace normlab
