// Tested by tests/nn/layers/multihead_attention_test.cpp.
#include "nn/layers/multihead_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/broadcast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/rms_norm.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"
#include "nn/optional_parameter.hpp"

namespace normlab {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
const double kLargestLogitScale = std::log(100.0);  // Swin V2: tau is not set below 0.01

std::int64_t checked_width(std::int64_t embed_dim, std::int64_t num_heads) {
  const auto got = [&] { return fmt::format("{} with {} heads", embed_dim, num_heads); };
  check(num_heads > 0 && embed_dim > 0 && embed_dim % num_heads == 0, "MultiheadAttention",
        "embed_dim", "must be a positive multiple of the number of heads", got);
  constexpr std::int64_t kWidest = std::int64_t{1} << 31;  // as wide as BLAS takes a matrix
  check(embed_dim < kWidest, "MultiheadAttention", "embed_dim", "must be below 2^31", got);
  return embed_dim;
}

void check_padding_mask(const Tensor& mask, std::int64_t sequences, std::int64_t keys) {
  check_shape("MultiheadAttention", "key_padding_mask", mask.shape(), {sequences, keys});
  for (const double flag : mask.values()) {
    check(flag == 0.0 || flag == 1.0, "MultiheadAttention", "key_padding_mask",
          "must hold nothing but 0 and 1", [&] { return fmt::format("{}", flag); });
  }
}

// Tokens (N, T, d) with zeros in place of those that the mask (N, T) calls padding, if one of these
// holds NaN or infinity. A weight of zero does not hide such a value, since 0 * NaN is NaN.
Var without_padding(const Var& tokens, const Tensor& mask) {
  if (!mask.defined()) return tokens;
  const std::int64_t d = tokens.value().width();
  const auto zero_padding = [mask, d](Tensor values) {
    for (std::int64_t t = 0; t < mask.numel(); ++t) {
      if (mask.data()[t] != 0.0) std::fill_n(values.mutable_data() + t * d, d, 0.0);
    }
    return values;
  };
  const auto is_broken = [&](std::int64_t t) {
    const double* token = tokens.value().data() + t * d;
    return mask.data()[t] != 0.0 &&
           !std::all_of(token, token + d, [](double v) { return std::isfinite(v); });
  };
  std::int64_t t = 0;
  while (t < mask.numel() && !is_broken(t)) ++t;
  if (t == mask.numel()) return tokens;
  const Adjoint dx(tokens);
  return record("without_padding", zero_padding(tokens.value()), {tokens},
                [dx, zero_padding](const Tensor& dy) { dx += zero_padding(dy); });
}

// Both masks as one additive mask that broadcasts to (N, heads, Tq, Tk); undefined if there is
// none.
Tensor combined_mask(const AttentionMasks& masks, std::int64_t sequences, std::int64_t heads,
                     std::int64_t queries, std::int64_t keys) {
  Tensor mask;
  if (masks.attn_mask.defined()) {
    if (masks.attn_mask.rank() == 3) {
      check_shape("MultiheadAttention", "attn_mask", masks.attn_mask.shape(),
                  {sequences * heads, queries, keys});
      mask = masks.attn_mask.reshaped({sequences, heads, queries, keys});
    } else {
      check_shape("MultiheadAttention", "attn_mask", masks.attn_mask.shape(), {queries, keys});
      mask = masks.attn_mask;
    }
  }
  if (masks.key_padding_mask.defined()) {
    const Tensor padding =
        mask_where_forbidden(masks.key_padding_mask).reshaped({sequences, 1, 1, keys});
    mask = mask.defined() ? broadcast_zip("MultiheadAttention", mask, padding, std::plus<>{})
                          : padding;
  }
  return mask;
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       Generator& generator, const Options& options)
    : in_proj_weight(register_parameter(
          "in_proj_weight", Tensor::zeros({3 * checked_width(embed_dim, num_heads), embed_dim}),
          WeightDecay::on)),
      in_proj_bias(options.bias
                       ? &register_parameter("in_proj_bias", Tensor::zeros({3 * embed_dim}))
                       : nullptr),
      out_proj(register_module("out_proj",
                               std::make_unique<Linear>(embed_dim, embed_dim, generator,
                                                        Linear::Options{.bias = options.bias}))),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      dropout_p_(options.dropout) {
  check_probability("MultiheadAttention", "dropout", options.dropout);
  init::xavier_uniform(in_proj_weight.value, generator);
  if (out_proj.bias != nullptr) init::zeros(out_proj.bias->value);
  if (options.dropout > 0.0) dropout_generator_.manual_seed(generator.next64());
  register_generator("dropout_generator", dropout_generator_);
  register_hyperparameter("heads", num_heads);
  register_hyperparameter("attention", options.cosine ? "cosine" : "dot-product");
  register_hyperparameter("qk_norm", static_cast<bool>(options.qk_norm));
  const std::int64_t head_width = embed_dim / num_heads;
  if (options.qk_norm || options.cosine) {
    check(head_width >= 3, "MultiheadAttention", "embed_dim",
          "must leave at least 3 numbers per head for query-key normalization or cosine attention",
          [&] { return fmt::format("{} with {} heads", embed_dim, num_heads); });
  }
  if (options.qk_norm) {
    q_norm = &register_module("q_norm", options.qk_norm(head_width));
    k_norm = &register_module("k_norm", options.qk_norm(head_width));
  }
  if (options.cosine) {
    logit_scale = &register_parameter("logit_scale", Tensor::full({num_heads}, std::log(10.0)));
  }
}

// Part 0, 1 or 2 of the packed projection: W_Q x, W_K x or W_V x.
Var MultiheadAttention::project(const Var& x, std::int64_t part) {
  const std::int64_t first = part * embed_dim_, last = first + embed_dim_;
  const Var weight = slice(x.tape().watch(in_proj_weight), 0, first, last);
  if (in_proj_bias == nullptr) return linear(x, weight);
  return linear(x, weight, slice(x.tape().watch(*in_proj_bias), 0, first, last));
}

// Applies the norm to each head's part of each token: x (N, T, d) as (N, T heads, d / heads).
Var MultiheadAttention::normalize_heads(const Var& x, Layer& norm) {
  const Var heads = reshape(x, {x.shape()[0], x.shape()[1] * num_heads_, embed_dim_ / num_heads_});
  return reshape(norm.forward(heads), x.shape().extents());
}

Var MultiheadAttention::heads_to_unit_length(const Var& x) {
  const std::int64_t width = embed_dim_ / num_heads_;
  const Var heads = reshape(x, {x.shape()[0], x.shape()[1], num_heads_, width});
  return rms_norm(heads, {width}) / std::sqrt(static_cast<double>(width));
}

// Normalizes q and k if the options ask for it; then softmax(scale * q k^T + mask) v and the output
// projection.
MultiheadAttention::Result MultiheadAttention::finish(const Var& query, const Var& key,
                                                      const Var& value,
                                                      const AttentionMasks& masks) {
  Var q = query, k = key;
  AttentionOptions options{
      .mask = combined_mask(masks, q.shape()[0], num_heads_, q.shape()[1], k.shape()[1]),
      .causal = masks.is_causal,
      .dropout_p = training() ? dropout_p_ : 0.0,
      .generator = &dropout_generator_};
  if (q_norm != nullptr) {
    q = normalize_heads(q, *q_norm);
    k = normalize_heads(k, *k_norm);
  }
  if (logit_scale != nullptr) {
    const Var inverse_tau =
        exp(clamp(q.tape().watch(*logit_scale), -kUnlimited, kLargestLogitScale));
    q = reshape(heads_to_unit_length(q) * reshape(inverse_tau, {num_heads_, 1}),
                q.shape().extents());
    k = reshape(heads_to_unit_length(k), k.shape().extents());
    options.scale = 1.0;
  }
  observe("query", q);
  observe("key", k);
  const Attention attention = multi_head_attention(q, k, value, num_heads_, options);
  return {out_proj.forward(attention.output), attention.weights};
}

MultiheadAttention::Result MultiheadAttention::attend(const Var& query, const Var& key,
                                                      const Var& value,
                                                      const AttentionMasks& masks) {
  check(query.value().rank() == 3 && key.value().rank() == 3, "MultiheadAttention", "query, key",
        "must be (sequences, tokens, embed_dim)",
        [&] { return query.shape().str() + " and " + key.shape().str(); });
  const Tensor& padding = masks.key_padding_mask;
  if (padding.defined()) check_padding_mask(padding, key.shape()[0], key.shape()[1]);
  if (padding.defined()) check_padding_mask(padding, value.shape()[0], value.shape()[1]);
  return finish(project(query, 0), project(without_padding(key, padding), 1),
                project(without_padding(value, padding), 2), masks);
}

MultiheadAttention::Result MultiheadAttention::attend(const Var& x, const AttentionMasks& masks) {
  check(x.value().rank() == 3 && x.value().width() == embed_dim_, "MultiheadAttention", "x",
        fmt::format("must be (sequences, tokens, {})", embed_dim_),
        [&] { return x.shape().str(); });
  const std::int64_t tokens = x.shape()[1];
  if (masks.key_padding_mask.defined()) {
    check_padding_mask(masks.key_padding_mask, x.shape()[0], tokens);
  }
  const Var readable = without_padding(x, masks.key_padding_mask);
  if (q_norm != nullptr || logit_scale != nullptr) {
    return attend(readable, readable, readable, masks);
  }
  const Var weight = x.tape().watch(in_proj_weight);
  const Var qkv = linear(readable, weight, watch(x.tape(), in_proj_bias));
  if (is_observed("query")) observe("query", slice(qkv, 2, 0, embed_dim_));
  if (is_observed("key")) observe("key", slice(qkv, 2, embed_dim_, 2 * embed_dim_));
  const Attention attention =
      self_attention(qkv, num_heads_,
                     {.mask = combined_mask(masks, x.shape()[0], num_heads_, tokens, tokens),
                      .causal = masks.is_causal,
                      .dropout_p = training() ? dropout_p_ : 0.0,
                      .generator = &dropout_generator_});
  return {out_proj.forward(attention.output), attention.weights};
}

Tensor MultiheadAttention::average_over_heads(const Tensor& weights) {
  const std::int64_t n = weights.shape()[0], heads = weights.shape()[1];
  Tensor sum = sum_to(weights, weights.shape().with_axis(1, 1));
  for (double& value : sum.mutable_values()) value /= static_cast<double>(heads);
  return sum.reshaped({n, weights.shape()[2], weights.shape()[3]});
}

}  // namespace normlab
