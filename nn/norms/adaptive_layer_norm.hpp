#pragma once

#include "core/random.hpp"
#include "nn/layers/linear.hpp"
#include "nn/norms/layer_norm.hpp"

namespace normlab {

// normalized * (1 + scale) + shift with one scale and shift per sequence: normalized (N, T, d),
// shift and scale (N, d) -> (N, T, d). Throws std::invalid_argument for other shapes.
Var modulate(const Var& normalized, const Var& shift, const Var& scale);

// Adaptive layer normalization, adaLN (Peebles and Xie 2023, section 3.2): x (N, T, d) -> (N, T,
// d),
//
//   y = LN(x) * (1 + scale) + shift,  (shift, scale) = W silu(c) + b
//
// where LN has no parameters of its own, and one linear layer computes shift and scale, (N, d)
// each, from a condition c (N, condition_width).
class AdaptiveLayerNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-6;       // DiT's
    bool zero_init = false;  // W and b start at zero, so y = LN(x) for every condition
  };
  // Throws std::invalid_argument unless both widths are positive and eps >= 0.
  AdaptiveLayerNorm(std::int64_t width, std::int64_t condition_width, Generator& generator,
                    const Options& options);
  AdaptiveLayerNorm(std::int64_t width, std::int64_t condition_width, Generator& generator)
      : AdaptiveLayerNorm(width, condition_width, generator, Options{}) {}

  // Throws std::invalid_argument unless x is (N, T, width) and the condition (N, condition_width).
  Var forward(const Var& x, const Var& condition);
  // The condition is each sequence's mean token, so condition_width must be width.
  Var forward(const Var& x) override;

  LayerNorm& norm;
  Linear& modulation;  // weight (2 width, condition_width), bias (2 width): shift, then scale
};

}  // namespace normlab
