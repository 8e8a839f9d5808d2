// Tested by tests/nn/norms/layer_norm_test.cpp.
#include "nn/norms/layer_norm.hpp"

#include "core/check.hpp"
#include "core/ops/layer_norm.hpp"
#include "nn/optional_parameter.hpp"

namespace normlab {

LayerNorm::LayerNorm(Shape normalized_shape, const Options& options)
    : normalized_shape_(std::move(normalized_shape)), options_(options) {
  check_at_least("LayerNorm", "eps", options.eps, 0.0);
  check(normalized_shape_.rank() > 0 && normalized_shape_.numel() > 0, "LayerNorm",
        "normalized_shape", "must hold at least one feature",
        [&] { return normalized_shape_.str(); });
  register_hyperparameter("norm", "LayerNorm");
  register_hyperparameter("eps", options.eps);
  register_hyperparameter("affine", options.elementwise_affine);
  register_hyperparameter("with_bias", options.elementwise_affine && options.bias);
  if (!options.elementwise_affine) return;
  weight = &register_parameter("weight", Tensor::ones(normalized_shape_));
  if (options.bias) bias = &register_parameter("bias", Tensor::zeros(normalized_shape_));
}

Var LayerNorm::forward(const Var& x) {
  const std::optional<Var> w = watch(x.tape(), weight), b = watch(x.tape(), bias);
  return layer_norm(x, normalized_shape_, w, b, options_.eps);
}

}  // namespace normlab
