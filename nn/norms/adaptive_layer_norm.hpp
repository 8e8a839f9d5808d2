#pragma once

#include "core/random.hpp"
#include "nn/layers/linear.hpp"
#include "nn/norms/layer_norm.hpp"

namespace normlab {

// y = LN(x) * (1 + scale) + shift, with LN without parameters of its own and one scale and shift
// per sequence: x (N, T, d), scale and shift (N, d).
Var modulate(const Var& normalized, const Var& shift, const Var& scale);

// Adaptive layer normalization, adaLN (Peebles and Xie 2023): shift and scale are regressed from a
// conditioning vector c (N, condition_width) by one linear layer, (shift, scale) = W silu(c) + b.
class AdaptiveLayerNorm : public Layer {
 public:
  struct Options {
    double eps = 1e-6;       // DiT's
    bool zero_init = false;  // modulation starts at zero: y = LN(x) whatever the condition
  };
  AdaptiveLayerNorm(std::int64_t width, std::int64_t condition_width, Generator& generator,
                    const Options& options);
  AdaptiveLayerNorm(std::int64_t width, std::int64_t condition_width, Generator& generator)
      : AdaptiveLayerNorm(width, condition_width, generator, Options{}) {}

  Var forward(const Var& x, const Var& condition);
  // Conditioned on each sequence's mean token; for when there is nothing else to condition on.
  // Needs condition_width == width.
  Var forward(const Var& x) override;

  LayerNorm& norm;
  Linear& modulation;  // (2 width, condition_width)
};

}  // namespace normlab
