// Tested by tests/nn/norms/batch_norm_test.cpp.
#include "nn/norms/batch_norm.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/norms/normalize_axes.hpp"

namespace normlab {

namespace {

// All axes but the channels'.
std::vector<std::int64_t> shared_axes(std::int64_t rank) {
  std::vector<std::int64_t> axes{0};
  for (std::int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

void move_towards(Tensor& running, const Tensor& newest, double share) {
  double* values = running.mutable_data();
  for (std::int64_t i = 0; i < running.numel(); ++i) {
    values[i] = (1.0 - share) * values[i] + share * newest.data()[i];
  }
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t num_features, const Options& options)
    : running_mean(Tensor::zeros({num_features})),
      running_var(Tensor::ones({num_features})),
      num_features_(num_features),
      options_(options) {
  check(num_features > 0, "BatchNorm", "num_features", "must be positive",
        [&] { return std::to_string(num_features); });
  check_at_least("BatchNorm", "eps", options.eps, 0.0);
  if (options.momentum) check_probability("BatchNorm", "momentum", *options.momentum);
  register_hyperparameter("norm", "BatchNorm");
  register_hyperparameter("eps", options.eps);
  register_hyperparameter("affine", options.affine);
  register_hyperparameter("track_running_stats", options.track_running_stats);
  if (options.track_running_stats) {
    register_buffer("running_mean", running_mean);
    register_buffer("running_var", running_var);
    register_buffer("num_batches_tracked", num_batches_tracked);
  }
  if (!options.affine) return;
  weight = &register_parameter("weight", Tensor::ones({num_features}));
  bias = &register_parameter("bias", Tensor::zeros({num_features}));
}

Var BatchNorm::forward(const Var& x) {
  const Shape& shape = x.shape();
  check(shape.rank() >= 2 && shape[1] == num_features_, "BatchNorm", "x",
        fmt::format("must be (N, {}, ...)", num_features_), [&] { return shape.str(); });
  if (!training() && options_.track_running_stats) {
    const Var mean = per_channel(x.tape().constant(running_mean), shape.rank());
    const Var variance = per_channel(x.tape().constant(running_var), shape.rank());
    return affine_per_channel((x - mean) / sqrt(variance + options_.eps), weight, bias);
  }
  check(x.value().numel() != num_features_, "BatchNorm", "x",
        "must have more than one value per channel in train mode", [&] { return shape.str(); });
  if (training() && options_.track_running_stats) track(x.value());
  return affine_per_channel(normalize_axes(x, shared_axes(shape.rank()), options_.eps), weight,
                            bias);
}

void BatchNorm::track(const Tensor& x) {
  num_batches_tracked += Tensor::scalar(1.0);
  if (x.numel() == 0) return;  // counted, as in PyTorch, but without statistics
  Tape scratch;
  const Var batch = scratch.constant(x);
  const std::vector<std::int64_t> axes = shared_axes(x.rank());
  const Var centre = mean(batch, axes, true);
  const auto count = static_cast<double>(x.numel() / num_features_);
  const Var unbiased = sum(square(batch - centre), axes) / (count - 1.0);
  const double share = options_.momentum.value_or(1.0 / num_batches_tracked.item());
  move_towards(running_mean, centre.value(), share);
  move_towards(running_var, unbiased.value(), share);
}

}  // namespace normlab
