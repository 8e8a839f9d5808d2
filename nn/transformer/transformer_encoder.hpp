#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/transformer/transformer_encoder_layer.hpp"

namespace normlab {

// A stack of blocks with an optional final norm, as torch.nn.TransformerEncoder. Every layer is
// built and initialized on its own, one after the other from the same generator; none is a copy of
// another.
//
// A placement that never normalizes the stream needs the final norm
// (PlacementEntry::needs_final_norm: pre-norm does); a stack that ends in a norm already, such as
// post-norm, is not served by a second one in a row. The default does what the placement asks for;
// on and off are for those who mean it.
//
// In deep_norm, every layer's alpha is (2 num_layers)^(1/4) and its beta (8 num_layers)^(-1/4).
class TransformerEncoder : public Layer {
 public:
  enum class FinalNorm { as_placement_needs, on, off };
  static bool ends_in_norm(FinalNorm final_norm, Placement placement);
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const TransformerEncoderLayer::Options& options,
                     FinalNorm final_norm = FinalNorm::as_placement_needs)
      : TransformerEncoder(num_layers, d_model, nhead, generator, options,
                           StackOptions{final_norm}) {}

  struct StackOptions {
    FinalNorm final_norm = FinalNorm::as_placement_needs;
    // A norm on the stream itself after every so many blocks, as Swin V2's largest models have it
    // (every 6) in res-post. 0: none.
    std::int64_t stream_norm_every = 0;
  };
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const TransformerEncoderLayer::Options& options,
                     const StackOptions& stack);

  Var forward(const Var& x) override { return forward(x, {}); }
  Var forward(const Var& x, const AttentionMasks& masks,
              const std::optional<Var>& condition = std::nullopt);

  // The second half of forward by itself: the final norm, if there is one, of the stream that the
  // blocks leave.
  Var finish(const Var& stream);

  // One line: depth, placement, and what stands at the end, with a word where that is not what the
  // placement needs.
  std::string describe() const;

  std::vector<TransformerEncoderLayer*> layers;
  Layer* norm = nullptr;  // the final norm, if there is one; observed: norm.input

 private:
  std::vector<Layer*> stream_norms_;  // one per layer, null where there is none
};

}  // namespace normlab
