#pragma once

#include "nn/module.hpp"

namespace normlab {

// The per-pixel layer normalization of ConvNeXt (Liu et al. 2022): one mean and variance over the
// channels for every position of a feature map. A (1, C, 2, 2) map has four such pairs, where
// LayerNorm([C, H, W]) has one. The result has the shape of x. The layout is an option and is not
// guessed from the shape, since a wrong guess would go unnoticed where W equals C.
class ChannelLayerNorm : public Layer {
 public:
  enum class Layout { channels_last, channels_first };  // (N, H, W, C) and (N, C, H, W)
  struct Options {
    double eps = 1e-6;  // ConvNeXt's, not LayerNorm's 1e-5
    Layout layout = Layout::channels_last;
  };
  // Throws std::invalid_argument unless channels > 0 and eps >= 0.
  ChannelLayerNorm(std::int64_t channels, const Options& options);
  explicit ChannelLayerNorm(std::int64_t channels) : ChannelLayerNorm(channels, Options{}) {}

  // Throws std::invalid_argument unless x is (..., C), or (N, C, ...) with channels_first.
  Var forward(const Var& x) override;

  Parameter& weight;  // (C), starts at one
  Parameter& bias;    // (C), starts at zero

 private:
  std::int64_t channels_;
  Options options_;
};

}  // namespace normlab
