// Tested by tests/nn/transformer/transformer_encoder_layer_test.cpp and
// transformer_decoder_layer_test.cpp.
#include "nn/transformer/sublayers.hpp"

namespace normlab {

std::unique_ptr<MultiheadAttention> make_attention(std::int64_t d_model, std::int64_t nhead,
                                                   Generator& generator,
                                                   const BlockOptions& options) {
  return std::make_unique<MultiheadAttention>(
      d_model, nhead, generator,
      MultiheadAttention::Options{.dropout = options.dropout,
                                  .bias = options.bias,
                                  .qk_norm = options.qk_norm,
                                  .cosine = options.cosine_attention});
}

std::unique_ptr<Linear> make_linear(std::int64_t in_features, std::int64_t out_features,
                                    Generator& generator, const BlockOptions& options) {
  return std::make_unique<Linear>(in_features, out_features, generator,
                                  Linear::Options{.bias = options.bias});
}

std::unique_ptr<Dropout> make_dropout(Generator& generator, const BlockOptions& options) {
  return std::make_unique<Dropout>(options.dropout, generator);
}

Var AttentionBranch::self(const Var& x, const AttentionMasks& masks,
                          const Observer& observe) const {
  const Var output = dropout.forward(attention.attend(x, masks).output);
  observe(output_name, output);
  return output;
}

Var AttentionBranch::cross(const Var& query, const Var& memory, const AttentionMasks& masks,
                           const Observer& observe) const {
  const Var output = dropout.forward(attention.attend(query, memory, memory, masks).output);
  observe(output_name, output);
  return output;
}

}  // namespace normlab
