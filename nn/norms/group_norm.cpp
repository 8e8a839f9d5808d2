// Tested by tests/nn/norms/group_norm_test.cpp.
#include "nn/norms/group_norm.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/norms/normalize_axes.hpp"

namespace normlab {

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const Options& options)
    : num_groups_(num_groups), num_channels_(num_channels), eps_(options.eps) {
  check(num_groups > 0 && num_channels > 0 && num_channels % num_groups == 0, "GroupNorm",
        "num_groups", "must divide the number of channels",
        [&] { return fmt::format("{} groups of {} channels", num_groups, num_channels); });
  check_at_least("GroupNorm", "eps", eps_, 0.0);
  register_hyperparameter("norm", "GroupNorm");
  register_hyperparameter("groups", num_groups);
  register_hyperparameter("eps", eps_);
  register_hyperparameter("affine", options.affine);
  if (!options.affine) return;
  weight = &register_parameter("weight", Tensor::ones({num_channels}));
  bias = &register_parameter("bias", Tensor::zeros({num_channels}));
}

Var GroupNorm::forward(const Var& x) {
  const Shape& shape = x.shape();
  check(shape.rank() >= 2 && shape[1] == num_channels_, "GroupNorm", "x",
        fmt::format("must be (N, {}, ...)", num_channels_), [&] { return shape.str(); });
  // A group's channels and positions are contiguous: as rows, they need no permute.
  const std::int64_t per_group = shape.axes(1, shape.rank()).numel() / num_groups_;
  const Var groups = reshape(x, {shape[0], num_groups_, per_group});
  const Var normalized = layer_norm(groups, {per_group}, std::nullopt, std::nullopt, eps_);
  return affine_per_channel(reshape(normalized, shape.extents()), weight, bias);
}

}  // namespace normlab
