#pragma once

#include "nn/module.hpp"

namespace normlab {

// Layer normalization, y = weight * (x - mean) / sqrt(var + eps) + bias with statistics over the
// trailing axes `normalized_shape` (Ba et al. 2016; core/ops/layer_norm.hpp), as
// torch.nn.LayerNorm: x (..., normalized_shape) -> the same shape. Without elementwise_affine there
// is neither weight nor bias, without bias only the weight.
//
// Over a single feature the output is the bias and the input gradient is zero, by definition.
//
// The features must be the last axis. A channels-first map (N, C, H, W) is refused unless W equals
// C: then its rows are normalized without an error (ChannelLayerNorm).
class LayerNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;  // at least 0
    bool elementwise_affine = true;
    bool bias = true;
  };
  // Throws std::invalid_argument unless normalized_shape has an element and eps >= 0.
  LayerNorm(Shape normalized_shape, const Options& options);
  explicit LayerNorm(Shape normalized_shape) : LayerNorm(std::move(normalized_shape), Options{}) {}
  explicit LayerNorm(std::int64_t width) : LayerNorm(Shape{width}) {}
  LayerNorm(std::int64_t width, const Options& options) : LayerNorm(Shape{width}, options) {}

  // Throws std::invalid_argument unless x ends in normalized_shape.
  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // normalized_shape, starts at one
  Parameter* bias = nullptr;    // normalized_shape, starts at zero

 private:
  Shape normalized_shape_;
  Options options_;
};

}  // namespace normlab
