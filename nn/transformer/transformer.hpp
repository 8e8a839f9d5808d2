#pragma once

#include "nn/transformer/transformer_decoder.hpp"

namespace normlab {

// Encoder and decoder (Vaswani et al. 2017), as torch.nn.Transformer with batch_first=True:
//
//   memory = encoder(src),  y = decoder(tgt, memory)
//   src (N, S, d_model), tgt (N, T, d_model) -> (N, T, d_model)
//
// Embeddings and the head are the caller's (TranslationTransformer has them).
//
// PyTorch ends both halves in a norm whatever the placement; in post-norm that makes two norms in a
// row. Here the default is what the placement needs, and FinalNorm::on gives PyTorch's model.
//
// Starts as PyTorch's: the layers' own initialization, and then every matrix again, encoder first,
// Xavier uniform.
class Transformer : public Module {
 public:
  using FinalNorm = TransformerEncoder::FinalNorm;
  struct Options {
    std::int64_t d_model = 512, nhead = 8;
    std::int64_t num_encoder_layers = 6, num_decoder_layers = 6;
    TransformerEncoderLayer::Options layer{};              // of every block, on both sides
    FinalNorm final_norm = FinalNorm::as_placement_needs;  // of both halves
  };
  Transformer(const Options& options, Generator& generator);

  // Causality is a flag, target.is_causal; there is no mask to be generated for it. What is padding
  // in the source has to be said of the memory, too.
  struct Masks {
    AttentionMasks source{}, target{}, memory{};
  };
  Var forward(const Var& src, const Var& tgt, const Masks& masks);
  Var forward(const Var& src, const Var& tgt) { return forward(src, tgt, Masks{}); }

  // Every parameter of two axes or more, in order, by init::xavier_uniform.
  void reset_parameters(Generator& generator);

  TransformerEncoder& encoder;
  TransformerDecoder& decoder;
};

}  // namespace normlab
