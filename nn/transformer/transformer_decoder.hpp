#pragma once

#include <vector>

#include "nn/transformer/transformer_decoder_layer.hpp"
#include "nn/transformer/transformer_encoder.hpp"

namespace normlab {

// A stack of decoder blocks with an optional final norm, as torch.nn.TransformerDecoder:
// x (N, T, d_model) and the encoder's output, memory (N, S, d_model) -> (N, T, d_model). Every
// layer reads the same memory. The final norm follows the same rule as the encoder's.
class TransformerDecoder : public Module {
 public:
  using FinalNorm = TransformerEncoder::FinalNorm;
  TransformerDecoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const TransformerDecoderLayer::Options& options,
                     FinalNorm final_norm = FinalNorm::as_placement_needs);

  Var forward(const Var& x, const Var& memory, const AttentionMasks& masks = {},
              const AttentionMasks& memory_masks = {});

  std::vector<TransformerDecoderLayer*> layers;
  Layer* norm = nullptr;  // the final norm, if there is one; observed: norm.input
};

}  // namespace normlab
