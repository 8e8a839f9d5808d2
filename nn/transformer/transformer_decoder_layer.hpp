#pragma once

#include "nn/transformer/sublayers.hpp"

namespace normlab {

// One block of a decoder with PyTorch's parameter names (torch.nn.TransformerDecoderLayer,
// batch_first=True): self-attention, cross-attention to the encoder's output ("memory"), and a
// feed-forward network. x (N, T, d_model), memory (N, S, d_model) -> (N, T, d_model).
//
//   post:  z = norm1(x + attention(x)),  w = norm2(z + cross(z, memory)),  y = norm3(w + ffn(w))
//   pre:   z = x + attention(norm1(x)),  w = z + cross(norm2(z), memory),  y = w + ffn(norm3(w))
//
// The cross-attention takes its queries from the residual stream, its keys and values from the
// memory. No block normalizes the memory: the encoder's final norm has done that once for all.
//
// Dropout acts where it does in the encoder's block, and in the cross-attention likewise.
//
// Observed, in the order of the equation: input (the stream), norm1.input, self_attn.query,
// self_attn.key, self_attn.output, norm2.input, multihead_attn.query, multihead_attn.key,
// multihead_attn.output, norm3.input, and what FeedForward observes.
class TransformerDecoderLayer : public Module {
 public:
  using Options = BlockOptions;
  // Draws from the generator in the order of the members below. Throws std::invalid_argument unless
  // the placement is post or pre and nhead divides d_model, and for options out of range.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator,
                          const Options& options);

  // `masks` is for the self-attention (causal in a decoder that has to predict), `memory_masks` for
  // the cross-attention, whose keys are the memory's tokens. Throws std::invalid_argument for a
  // memory without tokens, or with another width or number of sequences than x.
  Var forward(const Var& x, const Var& memory, const AttentionMasks& masks = {},
              const AttentionMasks& memory_masks = {});

  const Options& options() const { return options_; }

  MultiheadAttention& self_attn;
  MultiheadAttention& multihead_attn;  // the cross-attention
  Linear& linear1;                     // weight (dim_feedforward, d_model)
  Dropout& dropout;
  Linear& linear2;  // weight (d_model, dim_feedforward)
  Layer& norm1;
  Layer& norm2;
  Layer& norm3;
  Dropout& dropout1;
  Dropout& dropout2;
  Dropout& dropout3;

 private:
  Options options_;
  AttentionBranch attention_, cross_attention_;
  FeedForward feed_forward_;
};

}  // namespace normlab
