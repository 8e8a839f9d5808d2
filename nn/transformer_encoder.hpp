#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "nn/transformer_encoder_layer.hpp"

namespace normlab {

// A stack of blocks with an optional final norm, as torch.nn.TransformerEncoder. Every layer is
// built and initialized on its own, one after the other from the same generator; none is a copy of
// another.
//
// Pre-norm stacks need the final norm, since nothing else normalizes the stream; post-norm stacks
// end in a norm already, and a second one in a row is wanted by nobody. The default does what the
// placement asks for; on and off are for those who mean it.
class TransformerEncoder : public Module {
 public:
  enum class FinalNorm { as_placement_needs, on, off };
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const TransformerEncoderLayer::Options& options,
                     FinalNorm final_norm = FinalNorm::as_placement_needs);

  Var forward(const Var& x) override { return forward(x, {}); }
  Var forward(const Var& x, const AttentionMasks& masks);

  std::vector<TransformerEncoderLayer*> layers;
  Module* norm = nullptr;  // the final norm, if there is one; tap norm.input
};

}  // namespace normlab
