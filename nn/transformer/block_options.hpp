#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "nn/layers/feed_forward.hpp"
#include "nn/norm_factory.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// Everything about a transformer block except its width and number of heads. Encoder and decoder
// layers take the same options, so both halves of a model can be built from one value. Names and
// defaults are those of torch.nn.TransformerEncoderLayer where it has the option.
struct BlockOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;
  bool bias = true;    // in every linear layer and LayerNorm
  NormFactory norm{};  // empty: LayerNorm with layer_norm_eps and bias
  // Not set: pre if norm_first, else post.
  std::optional<Placement> placement{};
  // Initial weight of the norms in the blocks; Swin V2's code sets 0 in res-post.
  double norm_weight = 1.0;
  // Placement::deep_norm: the factor of the residual stream, and the factor of the initial weights.
  // TransformerEncoder sets both from its depth.
  double deep_norm_alpha = 1.0, deep_norm_beta = 1.0;
  // Placement::layer_scale: initial gate; CaiT's value for up to 18 blocks.
  double layer_scale_init = 0.1;
  // Passed on to MultiheadAttention.
  NormFactory qk_norm{};
  bool cosine_attention = false;

  Placement place() const {
    return placement.value_or(norm_first ? Placement::pre : Placement::post);
  }
};

// The norm that the options ask for, for tokens of this width. Throws std::invalid_argument if the
// factory returns a null pointer.
std::unique_ptr<Layer> make_norm(const BlockOptions& options, std::int64_t width);
// The same with its parameter `weight` set to options.norm_weight.
std::unique_ptr<Layer> make_block_norm(const BlockOptions& options, std::int64_t width);

}  // namespace normlab
