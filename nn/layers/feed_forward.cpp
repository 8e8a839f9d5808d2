// Tested by tests/nn/transformer/transformer_encoder_layer_test.cpp and
// transformer_decoder_layer_test.cpp.
#include "nn/layers/feed_forward.hpp"

#include "core/ops/activation.hpp"

namespace normlab {

Var activate(Activation activation, const Var& x) {
  return activation == Activation::relu ? relu(x) : gelu(x);
}

const char* name(Activation activation) { return activation == Activation::relu ? "relu" : "gelu"; }

Var FeedForward::forward(const Var& x, const Observer& observe) const {
  const Var hidden = dropout.forward(activate(activation, linear1.forward(x)));
  observe("linear2.input", hidden);
  const Var projected = linear2.forward(hidden);
  observe("linear2.output", projected);
  const Var output = last_dropout.forward(projected);
  observe("ffn.output", output);
  return output;
}

}  // namespace normlab
