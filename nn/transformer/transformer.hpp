#pragma once

#include "nn/transformer/transformer_decoder.hpp"
#include "nn/transformer/transformer_encoder.hpp"

namespace normlab {

// Encoder and decoder (Vaswani et al. 2017), as torch.nn.Transformer with batch_first=True:
//
//   memory = encoder(src),  y = decoder(tgt, memory)
//   src (N, S, d_model), tgt (N, T, d_model) -> (N, T, d_model)
//
// Embeddings and the output layer are left to the caller (TranslationTransformer has them).
//
// PyTorch adds a final norm to both halves in every placement; in post-norm these are two norms in
// a row. Here the default is what the placement needs, and FinalNorm::on gives PyTorch's model.
//
// Initialized as PyTorch's: the layers initialize themselves, then every matrix is drawn again,
// Xavier uniform, encoder first.
class Transformer : public Module {
 public:
  struct Options {
    std::int64_t d_model = 512, nhead = 8;
    std::int64_t num_encoder_layers = 6, num_decoder_layers = 6;
    BlockOptions layer{};                                  // of every block on both sides
    FinalNorm final_norm = FinalNorm::as_placement_needs;  // of both halves
  };
  // Throws std::invalid_argument for what encoder or decoder refuses.
  Transformer(const Options& options, Generator& generator);

  // For a causal decoder set target.is_causal. Padding in the source must be given twice: as
  // source.key_padding_mask and as memory.key_padding_mask.
  struct Masks {
    AttentionMasks source{}, target{}, memory{};
  };
  Var forward(const Var& src, const Var& tgt, const Masks& masks);
  Var forward(const Var& src, const Var& tgt) { return forward(src, tgt, Masks{}); }

  // Draws every parameter with two or more axes again, in order, by init::xavier_uniform.
  void reset_parameters(Generator& generator);

  TransformerEncoder& encoder;
  TransformerDecoder& decoder;
};

}  // namespace normlab
