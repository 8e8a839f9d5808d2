#pragma once

#include "nn/layers/multihead_attention.hpp"
#include "nn/transformer/block_options.hpp"

// What encoder and decoder layers have in common: how their layers are made, and the two residual
// branches that run them. The block registers the layers under PyTorch's names and owns them.
namespace normlab {

std::unique_ptr<MultiheadAttention> make_attention(std::int64_t d_model, std::int64_t nhead,
                                                   Generator& generator,
                                                   const BlockOptions& options);
std::unique_ptr<Linear> make_linear(std::int64_t in_features, std::int64_t out_features,
                                    Generator& generator, const BlockOptions& options);
std::unique_ptr<Dropout> make_dropout(Generator& generator, const BlockOptions& options);

// dropout(attention(query, memory, memory)).
struct AttentionBranch {
  MultiheadAttention& attention;
  Dropout& dropout;
  const char* output_name;  // as observed: "self_attn.output"

  // query (N, T, d_model) -> (N, T, d_model).
  Var self(const Var& x, const AttentionMasks& masks, const Observer& observe) const;
  // memory (N, S, d_model).
  Var cross(const Var& query, const Var& memory, const AttentionMasks& masks,
            const Observer& observe) const;
};

// A norm whose input is observed as `input_name`: "norm1.input".
struct ObservedNorm {
  Layer& norm;
  const char* input_name;
  const Observer& observe;

  Var operator()(const Var& x) const {
    observe(input_name, x);
    return norm.forward(x);
  }
};

}  // namespace normlab
