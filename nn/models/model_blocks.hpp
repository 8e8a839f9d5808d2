#pragma once

#include "nn/norms/norm_registry.hpp"
#include "nn/transformer/block_options.hpp"

namespace normlab {

// The block options that the options of every model determine: dim_feedforward, dropout,
// activation, norm (a name in nn::norms()) with norm_eps, and placement. Throws
// std::invalid_argument for a norm that is not registered.
template <typename ModelOptions>
BlockOptions block_options(const ModelOptions& options) {
  BlockOptions block;
  block.dim_feedforward = options.dim_feedforward;
  block.dropout = options.dropout;
  block.activation = options.activation;
  block.norm = nn::norms().at(options.norm).factory(options.norm_eps);
  block.placement = options.placement;
  return block;
}

}  // namespace normlab
