// Tested by tests/nn/norms/rms_norm_test.cpp.
#include "nn/norms/rms_norm.hpp"

#include "core/check.hpp"
#include "core/ops/rms_norm.hpp"
#include "nn/optional_parameter.hpp"

namespace normlab {

RMSNorm::RMSNorm(Shape normalized_shape, const Options& options)
    : normalized_shape_(std::move(normalized_shape)), options_(options) {
  check_at_least("RMSNorm", "eps", options.eps, 0.0);
  check(normalized_shape_.rank() > 0 && normalized_shape_.numel() > 0, "RMSNorm",
        "normalized_shape", "must hold at least one feature",
        [&] { return normalized_shape_.str(); });
  register_hyperparameter("norm", "RMSNorm");
  register_hyperparameter("eps", options.eps);
  register_hyperparameter("affine", options.elementwise_affine);
  if (options.elementwise_affine) {
    weight = &register_parameter("weight", Tensor::ones(normalized_shape_));
  }
}

Var RMSNorm::forward(const Var& x) {
  return rms_norm(x, normalized_shape_, watch(x.tape(), weight), options_.eps);
}

}  // namespace normlab
