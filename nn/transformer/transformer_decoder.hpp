#pragma once

#include <vector>

#include "nn/transformer/transformer_decoder_layer.hpp"

namespace normlab {

// A stack of decoder blocks with an optional final norm, as torch.nn.TransformerDecoder:
// x (N, T, d_model) and the encoder's output, memory (N, S, d_model) -> (N, T, d_model). Every
// layer reads the same memory.
class TransformerDecoder : public Module {
 public:
  // Throws std::invalid_argument for fewer than one layer and what TransformerDecoderLayer refuses.
  TransformerDecoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const BlockOptions& options,
                     FinalNorm final_norm = FinalNorm::as_placement_needs);

  // Masks as in TransformerDecoderLayer::forward, the same for every layer.
  Var forward(const Var& x, const Var& memory, const AttentionMasks& masks = {},
              const AttentionMasks& memory_masks = {});

  std::vector<TransformerDecoderLayer*> layers;
  Layer* norm = nullptr;  // the final norm, or null; observed: norm.input
};

}  // namespace normlab
