#pragma once

#include "nn/transformer/transformer_encoder_layer.hpp"

namespace normlab {

// One block of a decoder, with PyTorch's parameter names: self-attention, cross-attention to what
// the encoder left (the memory), and a feed-forward network.
// x (N, T, d_model), memory (N, S, d_model) -> (N, T, d_model).
//
//   post:  z = norm1(x + attention(x)),  w = norm2(z + cross(z, memory)),  y = norm3(w + ffn(w))
//   pre:   z = x + attention(norm1(x)),  w = z + cross(norm2(z), memory),  y = w + ffn(norm3(w))
//
// Queries of the cross-attention come from the stream, keys and values from the memory. No block
// normalizes the memory: the norm that the encoder ends in has done so, once for all of them.
//
// Dropout acts where the encoder's block has it, and on the cross-attention likewise.
//
// Observed: input (the stream), then, in the order of the equation, norm1.input, self_attn.query,
// self_attn.key, self_attn.output, norm2.input, multihead_attn.query, multihead_attn.key,
// multihead_attn.output, norm3.input, and those of the ffn (FeedForward).
class TransformerDecoderLayer : public Module {
 public:
  // Those of the encoder's block, so that both halves of a model are built from one value.
  using Options = TransformerEncoderLayer::Options;
  // Throws std::invalid_argument unless the placement is post or pre.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator,
                          const Options& options);

  // The masks of the self-attention (causal for a decoder that is to predict), and those of the
  // cross-attention, whose keys are the memory's tokens. Throws std::invalid_argument for a memory
  // without tokens, or of another width or number of sequences than x.
  Var forward(const Var& x, const Var& memory, const AttentionMasks& masks = {},
              const AttentionMasks& memory_masks = {});

  const Options& options() const { return options_; }

  MultiheadAttention& self_attn;
  MultiheadAttention& multihead_attn;  // the cross-attention
  Linear& linear1;                     // (dim_feedforward, d_model)
  Dropout& dropout;
  Linear& linear2;  // (d_model, dim_feedforward)
  Layer& norm1;
  Layer& norm2;
  Layer& norm3;
  Dropout& dropout1;
  Dropout& dropout2;
  Dropout& dropout3;

 private:
  Var self_attention(const Var& x, const AttentionMasks& masks);
  Var cross_attention(const Var& x, const Var& memory, const AttentionMasks& masks);
  Var feed_forward(const Var& x);

  Options options_;
};

}  // namespace normlab
