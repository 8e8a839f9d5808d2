#pragma once

#include <optional>

#include "nn/transformer/sublayers.hpp"

namespace normlab {

// One transformer block with PyTorch's parameter names (torch.nn.TransformerEncoderLayer,
// batch_first=True): self-attention, then a feed-forward network ("ffn").
// x (N, T, d_model) -> (N, T, d_model).
//
// The placement decides where the norms are. The two that PyTorch has are (Xiong et al. 2020,
// Table 1)
//
//   post (norm_first = false):  z = norm1(x + attention(x)),   y = norm2(z + ffn(z))
//   pre  (norm_first = true):   z = x + attention(norm1(x)),   y = z + ffn(norm2(z))
//
// with ffn(v) = linear2(activation(linear1(v))). The equations of the others are in `forward` and
// in placements(). Post-norm normalizes the residual stream itself. Pre-norm normalizes what a
// branch reads and leaves the stream x -> z -> y alone, so a stack of such blocks needs one more
// norm at its end (TransformerEncoder).
//
// Dropout acts on the attention weights, on the hidden values of the ffn, and on each residual
// branch before it is added.
//
// Observed, as far as the placement has them and in the order of its equation: input (the stream),
// norm1.input, self_attn.query, self_attn.key, self_attn.output, norm2.input, linear2.input,
// linear2.output, ffn.output. The output of a branch is observed before any norm or gate that
// follows it.
class TransformerEncoderLayer : public Layer {
 public:
  using Options = BlockOptions;
  // Draws from the generator in the order of the members below. Throws std::invalid_argument unless
  // nhead divides d_model, and for options out of range.
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator,
                          const Options& options);
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator)
      : TransformerEncoderLayer(d_model, nhead, generator, Options{}) {}

  // Throws std::invalid_argument unless x is (N, T, d_model) and the masks fit (AttentionMasks).
  Var forward(const Var& x) override { return forward(x, {}); }
  // Only ada_ln_zero reads the condition, (N, d_model); without one it uses each sequence's mean
  // token.
  Var forward(const Var& x, const AttentionMasks& masks,
              const std::optional<Var>& condition = std::nullopt);

  const Options& options() const { return options_; }
  // DeepNorm's initialization (Wang et al. 2022, Figure 2) with beta = factor: multiplies W_V, W_O
  // and both matrices of the ffn. W_Q and W_K stay, since they move no value along the stream.
  void scale_branch_weights(double factor);

  MultiheadAttention& self_attn;
  Linear& linear1;  // weight (dim_feedforward, d_model)
  Dropout& dropout;
  Linear& linear2;  // weight (d_model, dim_feedforward)
  Layer& norm1;     // the identity in re_zero
  Layer& norm2;     // the identity in re_zero and parallel
  Dropout& dropout1;
  Dropout& dropout2;
  Layer* norm1_out = nullptr;    // sandwich: of the attention's output
  Layer* norm2_out = nullptr;    // sandwich: of the ffn's output
  Parameter* gate1 = nullptr;    // of the attention: () in re_zero, (d_model) in layer_scale
  Parameter* gate2 = nullptr;    // of the ffn, likewise
  Linear* modulation = nullptr;  // ada_ln_zero: weight (6 d_model, d_model), starts at zero

 private:
  struct Modulation;
  Modulation modulate(const Var& condition, const Var& x);
  void add_placement_parameters(std::int64_t d_model, Generator& generator);

  Options options_;
  AttentionBranch attention_;
  FeedForward feed_forward_;
};

}  // namespace normlab
