// Tested by tests/nn/transformer/transformer_decoder_layer_test.cpp.
#include "nn/transformer/transformer_decoder_layer.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"

namespace normlab {

namespace {

using Options = TransformerDecoderLayer::Options;

const Options& checked(const Options& options) {
  const Placement placement = options.place();
  check(placement == Placement::post || placement == Placement::pre, "TransformerDecoderLayer",
        "placement", "must be post or pre", [&] { return name(placement); });
  return options;
}

std::unique_ptr<MultiheadAttention> make_attention(std::int64_t d_model, std::int64_t nhead,
                                                   Generator& generator, const Options& options) {
  return std::make_unique<MultiheadAttention>(
      d_model, nhead, generator,
      MultiheadAttention::Options{.dropout = options.dropout,
                                  .bias = options.bias,
                                  .qk_norm = options.qk_norm,
                                  .cosine = options.cosine_attention});
}

}  // namespace

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 Generator& generator, const Options& options)
    : self_attn(register_module("self_attn",
                                make_attention(d_model, nhead, generator, checked(options)))),
      multihead_attn(
          register_module("multihead_attn", make_attention(d_model, nhead, generator, options))),
      linear1(register_module("linear1",
                              std::make_unique<Linear>(d_model, options.dim_feedforward, generator,
                                                       Linear::Options{options.bias}))),
      dropout(register_module("dropout", std::make_unique<Dropout>(options.dropout, generator))),
      linear2(register_module("linear2",
                              std::make_unique<Linear>(options.dim_feedforward, d_model, generator,
                                                       Linear::Options{options.bias}))),
      norm1(register_module("norm1", TransformerEncoderLayer::make_block_norm(options, d_model))),
      norm2(register_module("norm2", TransformerEncoderLayer::make_block_norm(options, d_model))),
      norm3(register_module("norm3", TransformerEncoderLayer::make_block_norm(options, d_model))),
      dropout1(register_module("dropout1", std::make_unique<Dropout>(options.dropout, generator))),
      dropout2(register_module("dropout2", std::make_unique<Dropout>(options.dropout, generator))),
      dropout3(register_module("dropout3", std::make_unique<Dropout>(options.dropout, generator))),
      options_(options) {
  register_hyperparameter("placement", name(options.place()));
  register_hyperparameter("activation", name(options.activation));
}

Var TransformerDecoderLayer::self_attention(const Var& x, const AttentionMasks& masks) {
  const Var output = dropout1.forward(self_attn.attend(x, masks).output);
  observe("self_attn.output", output);
  return output;
}

Var TransformerDecoderLayer::cross_attention(const Var& x, const Var& memory,
                                             const AttentionMasks& masks) {
  const Var output = dropout2.forward(multihead_attn.attend(x, memory, memory, masks).output);
  observe("multihead_attn.output", output);
  return output;
}

Var TransformerDecoderLayer::feed_forward(const Var& x) {
  const FeedForward ffn{linear1, options_.activation, dropout, linear2, dropout3};
  return ffn.forward(x, [this](const char* point, const Var& value) { observe(point, value); });
}

Var TransformerDecoderLayer::forward(const Var& x, const Var& memory, const AttentionMasks& masks,
                                     const AttentionMasks& memory_masks) {
  const Shape &of_x = x.shape(), &of_memory = memory.shape();
  check(of_x.rank() == 3 && of_memory.rank() == 3 && of_memory[0] == of_x[0] && of_memory[1] >= 1 &&
            of_memory[2] == of_x[2],
        "TransformerDecoderLayer", "memory",
        "must be (N, S, d) with S at least 1, where x is (N, T, d)",
        [&] { return fmt::format("{} for x {}", of_memory.str(), of_x.str()); });
  const auto attention = [&](const Var& v) { return self_attention(v, masks); };
  const auto cross = [&](const Var& v) { return cross_attention(v, memory, memory_masks); };
  const auto ffn = [&](const Var& v) { return feed_forward(v); };
  const auto shown = [this](const char* point, Layer& norm) {
    return [this, point, &norm](const Var& v) {
      observe(point, v);
      return norm.forward(v);
    };
  };
  const auto n1 = shown("norm1.input", norm1);
  const auto n2 = shown("norm2.input", norm2);
  const auto n3 = shown("norm3.input", norm3);
  observe("input", x);

  if (options_.place() == Placement::pre) {
    const Var z = x + attention(n1(x));
    const Var w = z + cross(n2(z));
    return w + ffn(n3(w));
  }
  const Var z = n1(x + attention(x));
  const Var w = n2(z + cross(z));
  return n3(w + ffn(w));
}

}  // namespace normlab
