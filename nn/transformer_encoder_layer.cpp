// Tested by tests/nn/transformer_encoder_layer_test.cpp.
#include "nn/transformer_encoder_layer.hpp"

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "nn/layer_norm.hpp"

namespace normlab {

Var activate(Activation activation, const Var& x) {
  return activation == Activation::relu ? relu(x) : gelu(x);
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 Generator& generator, const Options& options)
    : self_attn(register_module("self_attn",
                                std::make_unique<MultiheadAttention>(
                                    d_model, nhead, generator,
                                    MultiheadAttention::Options{options.dropout, options.bias}))),
      linear1(register_module("linear1",
                              std::make_unique<Linear>(d_model, options.dim_feedforward, generator,
                                                       Linear::Options{options.bias}))),
      dropout(register_module("dropout", std::make_unique<Dropout>(options.dropout, generator))),
      linear2(register_module("linear2",
                              std::make_unique<Linear>(options.dim_feedforward, d_model, generator,
                                                       Linear::Options{options.bias}))),
      norm1(register_module("norm1", make_norm(options, d_model))),
      norm2(register_module("norm2", make_norm(options, d_model))),
      dropout1(register_module("dropout1", std::make_unique<Dropout>(options.dropout, generator))),
      dropout2(register_module("dropout2", std::make_unique<Dropout>(options.dropout, generator))),
      options_(options) {}

std::unique_ptr<Module> TransformerEncoderLayer::make_norm(const Options& options,
                                                           std::int64_t width) {
  if (options.norm) return options.norm(width);
  return std::make_unique<LayerNorm>(
      width, LayerNorm::Options{.eps = options.layer_norm_eps, .bias = options.bias});
}

Var TransformerEncoderLayer::attention(const Var& x, const AttentionMasks& masks) {
  const Var output = dropout1.forward(self_attn.attend(x, masks).output);
  show("self_attn.output", output);
  return output;
}

Var TransformerEncoderLayer::feed_forward(const Var& x) {
  const Var hidden = activate(options_.activation, linear1.forward(x));
  const Var output = dropout2.forward(linear2.forward(dropout.forward(hidden)));
  show("ffn.output", output);
  return output;
}

Var TransformerEncoderLayer::forward(const Var& x, const AttentionMasks& masks) {
  const auto norm1_of = [this](const Var& v) {
    show("norm1.input", v);
    return norm1.forward(v);
  };
  const auto norm2_of = [this](const Var& v) {
    show("norm2.input", v);
    return norm2.forward(v);
  };
  if (options_.norm_first) {
    const Var z = x + attention(norm1_of(x), masks);
    return z + feed_forward(norm2_of(z));
  }
  const Var z = norm1_of(x + attention(x, masks));
  return norm2_of(z + feed_forward(z));
}

}  // namespace normlab
