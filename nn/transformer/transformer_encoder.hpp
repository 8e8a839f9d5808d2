#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/transformer/transformer_encoder_layer.hpp"

namespace normlab {

// How a stack of encoder blocks is completed.
struct EncoderStackOptions {
  FinalNorm final_norm = FinalNorm::as_placement_needs;
  // A norm on the residual stream after every so many blocks, as the largest models of Swin V2 have
  // in res-post (every 6). 0: none.
  std::int64_t stream_norm_every = 0;
};

// A stack of blocks with an optional final norm, as torch.nn.TransformerEncoder:
// x (N, T, d_model) -> (N, T, d_model). Each layer is initialized from the same generator, one
// after the other (PyTorch copies its first layer).
//
// In deep_norm, every layer's alpha is (2 num_layers)^(1/4) and its beta (8 num_layers)^(-1/4).
class TransformerEncoder : public Layer {
 public:
  // Throws std::invalid_argument for fewer than one layer, a negative stream_norm_every, and what
  // TransformerEncoderLayer refuses.
  TransformerEncoder(std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     Generator& generator, const BlockOptions& options,
                     const EncoderStackOptions& stack = {});

  Var forward(const Var& x) override { return forward(x, {}); }
  // Masks and condition (N, d_model) are passed on to every layer.
  Var forward(const Var& x, const AttentionMasks& masks,
              const std::optional<Var>& condition = std::nullopt);

  // The final norm of what the blocks return, or that itself if there is no norm. For callers that
  // run the layers one by one.
  Var finish(const Var& stream);

  // One line for the user: depth, placement, whether there is a final norm, and a remark if that is
  // not what the placement needs.
  std::string describe() const;

  std::vector<TransformerEncoderLayer*> layers;
  Layer* norm = nullptr;  // the final norm, or null; observed: norm.input

 private:
  std::vector<Layer*> stream_norms_;  // one per layer, null where there is none
};

}  // namespace normlab
