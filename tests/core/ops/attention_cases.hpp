#pragma once

#include <cmath>
#include <limits>

#include "core/ops/arithmetic.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/dropout.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/shape_ops.hpp"
#include "core/ops/softmax.hpp"
#include "tests/support/op_checks.hpp"

// The attention functions as functions of their inputs, their composition from primitives, and the
// settings to compare them under.
namespace normlab::attention_cases {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr std::uint64_t kDropoutSeed = 17;

// The settings of one case; a generator is made anew for every evaluation.
struct Setting {
  Tensor mask{};
  bool causal = false;
  double scale = 0.0;
  double dropout_p = 0.0;

  AttentionOptions options(Generator& generator) const {
    return {mask, causal, scale, dropout_p, &generator};
  }
};

inline Function separate(const Setting& setting) {
  return [setting](const Vars& in) {
    Generator generator(kDropoutSeed);
    return scaled_dot_product_attention(in[0], in[1], in[2], setting.options(generator)).output;
  };
}

inline Function multi_head(std::int64_t heads, const Setting& setting) {
  return [=](const Vars& in) {
    Generator generator(kDropoutSeed);
    return multi_head_attention(in[0], in[1], in[2], heads, setting.options(generator)).output;
  };
}

inline Function self(std::int64_t heads, const Setting& setting) {
  return [=](const Vars& in) {
    Generator generator(kDropoutSeed);
    return self_attention(in[0], heads, setting.options(generator)).output;
  };
}

inline Tensor future_forbidden(std::int64_t queries, std::int64_t keys) {
  Tensor mask = Tensor::zeros({queries, keys});
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = i + 1; j < keys; ++j) mask.mutable_data()[i * keys + j] = -kInfinity;
  }
  return mask;
}

// From primitives; q, k and v with the heads as an axis of their own.
inline Var composed(const Vars& in, const Setting& setting) {
  const double width = static_cast<double>(in[0].value().width());
  const double factor = setting.scale == 0.0 ? 1.0 / std::sqrt(width) : setting.scale;
  Tape& tape = in[0].tape();
  Var scores = factor * matmul(in[0], in[1], Transpose::no, Transpose::yes);
  if (setting.mask.defined()) scores = scores + tape.constant(setting.mask);
  if (setting.causal) {
    scores = scores + tape.constant(future_forbidden(scores.shape()[-2], scores.shape()[-1]));
  }
  Generator generator(kDropoutSeed);
  return matmul(dropout(softmax(scores), setting.dropout_p, generator), in[2]);
}

// (N, T, H E) -> (N, H, T, E), and back.
inline Var split_heads(const Var& x, std::int64_t heads) {
  const std::int64_t n = x.shape()[0], t = x.shape()[1], width = x.shape()[2];
  return permute(reshape(x, {n, t, heads, width / heads}), {0, 2, 1, 3});
}
inline Var merge_heads(const Var& x) {
  return reshape(permute(x, {0, 2, 1, 3}),
                 {x.shape()[0], x.shape()[2], x.shape()[1] * x.shape()[3]});
}

// q (leading, tq, e), k (leading, tk, e), v (leading, tk, ev)
inline std::vector<Tensor> inputs(const std::vector<std::int64_t>& leading, std::int64_t tq,
                                  std::int64_t tk, std::int64_t e, std::int64_t ev) {
  const auto shape = [&](std::int64_t rows, std::int64_t columns) {
    std::vector<std::int64_t> extents = leading;
    extents.insert(extents.end(), {rows, columns});
    return Shape(std::move(extents));
  };
  return {random(shape(tq, e), 1), random(shape(tk, e), 2), random(shape(tk, ev), 3)};
}

// About a third of the elements forbidden, the first key never.
inline Tensor some_forbidden(const Shape& shape) {
  Tensor mask = random(shape, 4);
  for (std::int64_t i = 0; i < mask.numel(); ++i) {
    if (i % mask.width() != 0 && mask.data()[i] > 0.4) mask.mutable_data()[i] = -kInfinity;
  }
  return mask;
}

// Masks that broadcast to (2, 3, 4, 5), with causality, own scales and dropout.
inline const std::vector<Setting> kSettings{{},
                                            {.mask = some_forbidden({4, 5})},
                                            {.mask = some_forbidden({2, 1, 1, 5})},
                                            {.mask = some_forbidden({3, 4, 5})},
                                            {.mask = some_forbidden({2, 3, 4, 5})},
                                            {.mask = random({4, 1}, 5)},
                                            {.mask = random({}, 5)},
                                            {.causal = true},
                                            {.mask = some_forbidden({2, 1, 1, 5}), .causal = true},
                                            {.scale = 0.3},
                                            {.scale = -1.2},
                                            {.dropout_p = 0.3},
                                            {some_forbidden({4, 5}), true, 0.7, 0.4}};

}  // namespace normlab::attention_cases
