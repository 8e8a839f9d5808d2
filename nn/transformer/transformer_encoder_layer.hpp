#pragma once

#include <memory>
#include <optional>

#include "nn/layers/feed_forward.hpp"
#include "nn/layers/multihead_attention.hpp"
#include "nn/norm_factory.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// One transformer block, self-attention and then a feed-forward network ("ffn"), with PyTorch's
// parameter names, (N, T, d_model) -> (N, T, d_model) (batch_first=True). The placement decides
// where the norms stand; the two of PyTorch are
//
//   post (norm_first = false):  z = norm1(x + attention(x)),   y = norm2(z + ffn(z))
//   pre  (norm_first = true):   z = x + attention(norm1(x)),   y = z + ffn(norm2(z))
//
// with ffn(v) = linear2(activation(linear1(v))) (Xiong et al. 2020, Table 1), and the others stand
// beside them in `forward`. Post-norm normalizes the stream itself; pre-norm normalizes what a
// branch reads and leaves the stream x -> z -> y alone, so that a stack of such blocks needs one
// more norm at its end (TransformerEncoder).
//
// Dropout acts on the attention weights, on each branch before it is added, and on the hidden
// values of the ffn.
//
// Observed: input (the stream), then, in the order of the equation, norm1.input, self_attn.query,
// self_attn.key, self_attn.output, norm2.input, linear2.input, linear2.output, ffn.output, as far
// as the placement has them. A branch's output is what it returns, before a norm or gate behind it.
class TransformerEncoderLayer : public Layer {
 public:
  struct Options {
    std::int64_t dim_feedforward = 2048;
    double dropout = 0.1;
    Activation activation = Activation::relu;
    double layer_norm_eps = 1e-5;
    bool norm_first = false;
    bool bias = true;    // of every linear layer and LayerNorm
    NormFactory norm{};  // none: LayerNorm with layer_norm_eps and bias
    // None: post, or pre with norm_first.
    std::optional<Placement> placement{};
    // ada_ln_zero has a LayerNorm without parameters of its own, whatever `norm` and the eps are.
    double norm_weight = 1.0;  // what the norms' weights start at; Swin V2's code has 0 in res-post
    // deep_norm; TransformerEncoder sets both from its depth. The second scales the initialization.
    double deep_norm_alpha = 1.0, deep_norm_beta = 1.0;
    double layer_scale_init = 0.1;  // layer_scale; CaiT's value up to 18 blocks
    // Handed on to MultiheadAttention.
    NormFactory qk_norm{};
    bool cosine_attention = false;

    Placement place() const {
      return placement.value_or(norm_first ? Placement::pre : Placement::post);
    }
  };
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator,
                          const Options& options);
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator)
      : TransformerEncoderLayer(d_model, nhead, generator, Options{}) {}

  Var forward(const Var& x) override { return forward(x, {}); }
  // The condition c (N, d_model) is read by ada_ln_zero alone; without one it is the mean token.
  Var forward(const Var& x, const AttentionMasks& masks,
              const std::optional<Var>& condition = std::nullopt);

  const Options& options() const { return options_; }
  // Multiplies W_V, W_O and the ffn's matrices; W_Q and W_K, which move no value along the stream,
  // stay. DeepNorm's initialization (Wang et al. 2022, Figure 2) with factor beta.
  void scale_branch_weights(double factor);
  // The norm that the options ask for, for tokens of this width; and the same as it stands in a
  // block, with the weight that it starts at there.
  static std::unique_ptr<Layer> make_norm(const Options& options, std::int64_t width);
  static std::unique_ptr<Layer> make_block_norm(const Options& options, std::int64_t width);

  MultiheadAttention& self_attn;
  Linear& linear1;  // (dim_feedforward, d_model)
  Dropout& dropout;
  Linear& linear2;  // (d_model, dim_feedforward)
  Layer& norm1;     // the identity in re_zero
  Layer& norm2;     // the identity in re_zero and parallel
  Dropout& dropout1;
  Dropout& dropout2;
  Layer* norm1_out = nullptr;    // sandwich: of the attention's result
  Layer* norm2_out = nullptr;    // sandwich: of the ffn's result
  Parameter* gate1 = nullptr;    // re_zero () and layer_scale (d_model): of the attention
  Parameter* gate2 = nullptr;    // of the ffn
  Linear* modulation = nullptr;  // ada_ln_zero (6 d_model, d_model), starts at zero

 private:
  struct Modulation;
  Modulation modulate(const Var& condition);
  void add_placement_parameters(std::int64_t d_model, Generator& generator);
  Var attention(const Var& x, const AttentionMasks& masks);
  Var feed_forward(const Var& x);

  Options options_;
};

}  // namespace normlab
