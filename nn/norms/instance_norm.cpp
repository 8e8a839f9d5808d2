// Tested by tests/nn/norms/instance_norm_test.cpp.
#include "nn/norms/instance_norm.hpp"

#include <numeric>

#include <fmt/format.h>

#include "core/check.hpp"
#include "nn/norms/normalize_axes.hpp"

namespace normlab {

InstanceNorm::InstanceNorm(std::int64_t num_features, const Options& options)
    : num_features_(num_features), eps_(options.eps) {
  check(num_features > 0, "InstanceNorm", "num_features", "must be positive",
        [&] { return std::to_string(num_features); });
  check_at_least("InstanceNorm", "eps", eps_, 0.0);
  register_hyperparameter("norm", "InstanceNorm");
  register_hyperparameter("eps", eps_);
  register_hyperparameter("affine", options.affine);
  if (!options.affine) return;
  weight = &register_parameter("weight", Tensor::ones({num_features}));
  bias = &register_parameter("bias", Tensor::zeros({num_features}));
}

Var InstanceNorm::forward(const Var& x) {
  const Shape& shape = x.shape();
  check(shape.rank() >= 3 && shape[1] == num_features_ && shape.axes(2, shape.rank()).numel() != 1,
        "InstanceNorm", "x",
        fmt::format("must be (N, {}, L, ...) with at least two positions", num_features_),
        [&] { return shape.str(); });
  std::vector<std::int64_t> positions(static_cast<std::size_t>(shape.rank() - 2));
  std::iota(positions.begin(), positions.end(), 2);
  return affine_per_channel(normalize_axes(x, positions, eps_), weight, bias);
}

}  // namespace normlab
