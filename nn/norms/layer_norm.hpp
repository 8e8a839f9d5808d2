#pragma once

#include "nn/module.hpp"

namespace normlab {

// Layer normalization, y = weight * (x - mean) / sqrt(var + eps) + bias with statistics over the
// trailing axes `normalized_shape` (core/ops/layer_norm.hpp), as torch.nn.LayerNorm.
// weight starts at one, bias at zero; without elementwise_affine there is neither, without bias
// only the weight.
//
// Over a single feature the output is the bias and the input gradient zero, by definition.
//
// The last axis must hold the features. A channels-first map (N, C, H, W) is refused, except where
// W happens to be C: then its lines are normalized without an error.
class LayerNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-5;  // at least 0
    bool elementwise_affine = true;
    bool bias = true;
  };
  LayerNorm(Shape normalized_shape, const Options& options);
  explicit LayerNorm(Shape normalized_shape) : LayerNorm(std::move(normalized_shape), Options{}) {}
  explicit LayerNorm(std::int64_t width) : LayerNorm(Shape{width}) {}
  LayerNorm(std::int64_t width, const Options& options) : LayerNorm(Shape{width}, options) {}

  Var forward(const Var& x) override;

  Parameter* weight = nullptr;  // normalized_shape
  Parameter* bias = nullptr;    // normalized_shape

 private:
  Shape normalized_shape_;
  Options options_;
};

}  // namespace normlab
