#pragma once

#include <functional>

#include "nn/layers/dropout.hpp"
#include "nn/layers/linear.hpp"

namespace normlab {

enum class Activation { relu, gelu };
// Any shape; gelu is the exact one, x Phi(x) (core/ops/activation.hpp).
Var activate(Activation activation, const Var& x);
// "relu" or "gelu", as checkpoints store it.
const char* name(Activation activation);

// Called with the name and value of everything that a block observes (Module::observe).
using Observer = std::function<void(const char* name, const Var& value)>;

// The feed-forward branch ("ffn") of a transformer block, over layers that the block owns under
// PyTorch's names: x (..., d_model) -> (..., d_model),
//
//   ffn(x) = last_dropout(linear2(dropout(activation(linear1(x)))))
//
// Observed: linear2.input (..., dim_feedforward), linear2.output and ffn.output (..., d_model).
// The input of linear2 and the gradient of its output are the two factors of its weight's gradient,
// token by token.
struct FeedForward {
  Linear& linear1;
  Activation activation;
  Dropout& dropout;
  Linear& linear2;
  Dropout& last_dropout;

  Var forward(const Var& x, const Observer& observe) const;
};

}  // namespace normlab
