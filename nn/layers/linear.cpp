// Tested by tests/nn/layers/linear_test.cpp.
#include "nn/layers/linear.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/ops/linear.hpp"
#include "nn/init.hpp"
#include "nn/optional_parameter.hpp"

namespace normlab {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, Generator& generator,
               const Options& options)
    : weight(register_parameter("weight", Tensor::zeros({out_features, in_features}),
                                WeightDecay::on)) {
  check(in_features > 0 && out_features > 0, "Linear", "features", "must be positive",
        [&] { return weight.value.shape().str(); });
  init::kaiming_uniform(weight.value, generator, std::sqrt(5.0));
  if (!options.bias) return;
  bias = &register_parameter("bias", Tensor::zeros({out_features}));
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_features));
  init::uniform(bias->value, generator, -bound, bound);
}

Var Linear::forward(const Var& x) {
  const Var w = x.tape().watch(weight);  // before the bias: arguments may be evaluated in any order
  return linear(x, w, watch(x.tape(), bias));
}

}  // namespace normlab
