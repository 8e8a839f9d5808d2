#pragma once

#include "core/random.hpp"
#include "nn/layers/dropout.hpp"
#include "nn/layers/linear.hpp"
#include "nn/norm_factory.hpp"

namespace normlab {

// Which keys a query may attend to, in torch.nn.MultiheadAttention's terms.
struct AttentionMasks {
  // Added to the scores: (Tq, Tk), or (N * num_heads, Tq, Tk) for one mask per head. For a boolean
  // mask in which true forbids, see mask_where_forbidden (core/ops/attention.hpp).
  Tensor attn_mask{};
  // (N, Tk), 1 where the key is padding and must not be attended to, else 0. Padding may hold
  // anything, NaN and infinity too: it reaches no other token, and its gradient as a key is zero.
  Tensor key_padding_mask{};
  // Position i attends to positions 0 .. i only.
  bool is_causal = false;
};

// out_proj(concat over heads of softmax(Q K^T / sqrt(head width) + mask) V), with
// Q, K, V = in_proj of query, key and value; as torch.nn.MultiheadAttention with batch_first=True:
// query (N, Tq, embed_dim), key and value (N, Tk, embed_dim) -> (N, Tq, embed_dim).
//
// Observed: query and key, (N, T, embed_dim), as they enter the product: projected, and normalized
// with qk_norm or cosine (where the query includes the factor 1/tau, the only scale).
//
// A query whose keys are all forbidden gets the output bias alone, and finite gradients
// (PyTorch: NaN).
class MultiheadAttention : public Layer {
 public:
  struct Options {
    double dropout = 0.0;  // on the attention weights, in train mode
    bool bias = true;
    // Query-key normalization (Dehghani et al. 2023, LayerNorm; Esser et al. 2024, RMSNorm): one
    // norm for the queries and one for the keys of every head, shared by the heads as in both
    // papers. Logits then cannot grow with the weights. Empty: no normalization.
    NormFactory qk_norm{};
    // Scaled cosine attention (Liu et al. 2022, Swin V2): logits cos(q, k) / tau with one learned
    // temperature per head, tau = exp(-min(logit_scale, ln 100)) >= 0.01, starting at tau = 0.1.
    bool cosine = false;
  };
  // Throws std::invalid_argument unless num_heads divides embed_dim, and if a head has fewer than
  // three numbers but is to be normalized: one number normalized is its sign, and LayerNorm leaves
  // only a sign of two.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, Generator& generator,
                     const Options& options);
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, Generator& generator)
      : MultiheadAttention(embed_dim, num_heads, generator, Options{}) {}

  struct Result {
    Var output;
    Tensor weights;  // (N, num_heads, Tq, Tk), after the softmax and before dropout
  };
  // Throws std::invalid_argument unless query, key, value and masks have the shapes above, and for
  // a key_padding_mask with values other than 0 and 1.
  Result attend(const Var& query, const Var& key, const Var& value,
                const AttentionMasks& masks = {});
  // Self-attention: x is query, key and value, and is projected in one product.
  Result attend(const Var& x, const AttentionMasks& masks = {});
  Var forward(const Var& x) override { return attend(x).output; }

  // Weights averaged over heads, (N, Tq, Tk): what PyTorch returns by default.
  static Tensor average_over_heads(const Tensor& weights);

  Parameter& in_proj_weight;          // (3 embed_dim, embed_dim): W_Q, W_K and W_V stacked
  Parameter* in_proj_bias = nullptr;  // (3 embed_dim)
  Linear& out_proj;
  Layer* q_norm = nullptr;  // with qk_norm
  Layer* k_norm = nullptr;
  Parameter* logit_scale = nullptr;  // (num_heads), ln(1 / tau), with cosine

 private:
  Var project(const Var& x, std::int64_t part);
  Var normalize_heads(const Var& x, Layer& norm);
  Var heads_to_unit_length(const Var& x);
  Result finish(const Var& query, const Var& key, const Var& value, const AttentionMasks& masks);

  std::int64_t embed_dim_, num_heads_;
  double dropout_p_;
  Generator dropout_generator_;
};

}  // namespace normlab
