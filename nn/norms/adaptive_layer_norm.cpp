// Tested by tests/nn/norms/adaptive_layer_norm_test.cpp.
#include "nn/norms/adaptive_layer_norm.hpp"

#include "core/check.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"

namespace normlab {

Var modulate(const Var& normalized, const Var& shift, const Var& scale) {
  check(normalized.value().rank() == 3, "modulate", "normalized", "must be (N, T, d)",
        [&] { return normalized.shape().str(); });
  const std::int64_t n = normalized.shape()[0], d = normalized.shape()[2];
  check_shape("modulate", "shift", shift.shape(), {n, d});
  check_shape("modulate", "scale", scale.shape(), {n, d});
  const std::vector<std::int64_t> per_sequence{n, 1, d};
  return normalized * (reshape(scale, per_sequence) + 1.0) + reshape(shift, per_sequence);
}

AdaptiveLayerNorm::AdaptiveLayerNorm(std::int64_t width, std::int64_t condition_width,
                                     Generator& generator, const Options& options)
    : norm(register_module(
          "norm", std::make_unique<LayerNorm>(
                      width, LayerNorm::Options{.eps = options.eps, .elementwise_affine = false}))),
      modulation(register_module("modulation",
                                 std::make_unique<Linear>(condition_width, 2 * width, generator))) {
  register_hyperparameter("norm", "AdaptiveLayerNorm");
  if (!options.zero_init) return;
  init::zeros(modulation.weight.value);
  init::zeros(modulation.bias->value);
}

Var AdaptiveLayerNorm::forward(const Var& x, const Var& condition) {
  check(x.value().rank() == 3 && condition.value().rank() == 2 &&
            condition.shape()[0] == x.shape()[0],
        "AdaptiveLayerNorm", "x, condition", "must be (N, T, d) and (N, condition width)",
        [&] { return x.shape().str() + " and " + condition.shape().str(); });
  const Var shift_and_scale = modulation.forward(silu(condition));
  const std::int64_t d = x.value().width();
  return modulate(norm.forward(x), slice(shift_and_scale, 1, 0, d),
                  slice(shift_and_scale, 1, d, 2 * d));
}

Var AdaptiveLayerNorm::forward(const Var& x) { return forward(x, mean(x, {1})); }

}  // namespace normlab
