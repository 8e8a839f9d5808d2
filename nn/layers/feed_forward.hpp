#pragma once

#include <functional>

#include "nn/layers/dropout.hpp"
#include "nn/layers/linear.hpp"

namespace normlab {

enum class Activation { relu, gelu };
Var activate(Activation activation, const Var& x);
// As checkpoints have it: "relu".
const char* name(Activation activation);

// The feed-forward branch ("ffn") of a transformer block. The layers are the block's own, under the
// names that PyTorch gives them there:
//
//   ffn(x) = last_dropout(linear2(dropout(activation(linear1(x)))))
//
// `observe` is called with the points linear2.input, linear2.output and ffn.output. What linear2
// reads and the gradient of what it returns are the two factors of its weight's gradient, token by
// token.
struct FeedForward {
  Linear& linear1;
  Activation activation;
  Dropout& dropout;
  Linear& linear2;
  Dropout& last_dropout;

  Var forward(const Var& x,
              const std::function<void(const char* point, const Var&)>& observe) const;
};

}  // namespace normlab
