// Tested by tests/nn/transformer/transformer_decoder_layer_test.cpp.
#include "nn/transformer/transformer_decoder_layer.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"

namespace normlab {

namespace {

const BlockOptions& checked(const BlockOptions& options) {
  const Placement placement = options.place();
  check(placement == Placement::post || placement == Placement::pre, "TransformerDecoderLayer",
        "placement", "must be post or pre", [&] { return name(placement); });
  return options;
}

void check_memory(const Shape& x, const Shape& memory) {
  check(x.rank() == 3 && memory.rank() == 3 && memory[0] == x[0] && memory[1] >= 1 &&
            memory[2] == x[2],
        "TransformerDecoderLayer", "memory",
        "must be (N, S, d) with S at least 1, where x is (N, T, d)",
        [&] { return fmt::format("{} for x {}", memory.str(), x.str()); });
}

}  // namespace

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 Generator& generator, const Options& options)
    : self_attn(register_module("self_attn",
                                make_attention(d_model, nhead, generator, checked(options)))),
      multihead_attn(
          register_module("multihead_attn", make_attention(d_model, nhead, generator, options))),
      linear1(register_module("linear1",
                              make_linear(d_model, options.dim_feedforward, generator, options))),
      dropout(register_module("dropout", make_dropout(generator, options))),
      linear2(register_module("linear2",
                              make_linear(options.dim_feedforward, d_model, generator, options))),
      norm1(register_module("norm1", make_block_norm(options, d_model))),
      norm2(register_module("norm2", make_block_norm(options, d_model))),
      norm3(register_module("norm3", make_block_norm(options, d_model))),
      dropout1(register_module("dropout1", make_dropout(generator, options))),
      dropout2(register_module("dropout2", make_dropout(generator, options))),
      dropout3(register_module("dropout3", make_dropout(generator, options))),
      options_(options),
      attention_{self_attn, dropout1, "self_attn.output"},
      cross_attention_{multihead_attn, dropout2, "multihead_attn.output"},
      feed_forward_{linear1, options.activation, dropout, linear2, dropout3} {
  register_hyperparameter("placement", name(options.place()));
  register_hyperparameter("activation", name(options.activation));
}

Var TransformerDecoderLayer::forward(const Var& x, const Var& memory, const AttentionMasks& masks,
                                     const AttentionMasks& memory_masks) {
  check_memory(x.shape(), memory.shape());
  const Observer observer = [this](const char* name, const Var& v) { observe(name, v); };
  const auto attn = [&](const Var& v) { return attention_.self(v, masks, observer); };
  const auto cross = [&](const Var& v) {
    return cross_attention_.cross(v, memory, memory_masks, observer);
  };
  const auto ffn = [&](const Var& v) { return feed_forward_.forward(v, observer); };
  const ObservedNorm n1{norm1, "norm1.input", observer}, n2{norm2, "norm2.input", observer},
      n3{norm3, "norm3.input", observer};
  observe("input", x);

  if (options_.place() == Placement::pre) {
    const Var z = x + attn(n1(x));
    const Var w = z + cross(n2(z));
    return w + ffn(n3(w));
  }
  const Var z = n1(x + attn(x));
  const Var w = n2(z + cross(z));
  return n3(w + ffn(w));
}

}  // namespace normlab
