#pragma once

#include "nn/module.hpp"

namespace normlab {

// The per-pixel layer normalization of ConvNeXt (Liu et al. 2022): one mean and variance over the
// channels at every position of a feature map, so 4 of them on a (1, C, 2, 2) map where
// LayerNorm([C, H, W]) has one. The layout is part of the type and not guessed from the shape: with
// as many columns as channels a wrong guess would go unnoticed.
class ChannelLayerNorm : public Layer {
 public:
  enum class Layout { channels_last, channels_first };  // (N, H, W, C) and (N, C, H, W)
  struct Options {
    double eps = 1e-6;  // ConvNeXt's, not LayerNorm's 1e-5
    Layout layout = Layout::channels_last;
  };
  ChannelLayerNorm(std::int64_t channels, const Options& options);
  explicit ChannelLayerNorm(std::int64_t channels) : ChannelLayerNorm(channels, Options{}) {}

  Var forward(const Var& x) override;

  Parameter& weight;  // (C), starts at one
  Parameter& bias;    // (C), starts at zero

 private:
  std::int64_t channels_;
  Options options_;
};

}  // namespace normlab
