// Tested by tests/nn/norms/channel_layer_norm_test.cpp.
#include "nn/norms/channel_layer_norm.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/layer_norm.hpp"
#include "nn/norms/normalize_axes.hpp"

namespace normlab {

ChannelLayerNorm::ChannelLayerNorm(std::int64_t channels, const Options& options)
    : weight(register_parameter("weight", Tensor::ones({channels}))),
      bias(register_parameter("bias", Tensor::zeros({channels}))),
      channels_(channels),
      options_(options) {
  check(channels > 0, "ChannelLayerNorm", "channels", "must be positive",
        [&] { return std::to_string(channels); });
  check_at_least("ChannelLayerNorm", "eps", options.eps, 0.0);
  register_hyperparameter("norm", "ChannelLayerNorm");
  register_hyperparameter("eps", options.eps);
  register_hyperparameter("channels_last", options.layout == Layout::channels_last);
}

Var ChannelLayerNorm::forward(const Var& x) {
  if (options_.layout == Layout::channels_last) {
    const Var w = x.tape().watch(weight), b = x.tape().watch(bias);
    return layer_norm(x, {channels_}, w, b, options_.eps);
  }
  check(x.value().rank() >= 3 && x.shape()[1] == channels_, "ChannelLayerNorm", "x",
        fmt::format("must be channels-first, (N, {}, H, W)", channels_),
        [&] { return x.shape().str(); });
  return affine_per_channel(normalize_axes(x, {1}, options_.eps), &weight, &bias);
}

}  // namespace normlab
