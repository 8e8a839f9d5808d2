// Tested by tests/nn/transformer/transformer_test.cpp.
#include "nn/transformer/transformer_decoder.hpp"

#include <string>

#include "core/check.hpp"

namespace normlab {

TransformerDecoder::TransformerDecoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, Generator& generator,
                                       const BlockOptions& options, FinalNorm final_norm) {
  check(num_layers >= 1, "TransformerDecoder", "num_layers", "must be at least 1",
        [&] { return std::to_string(num_layers); });
  for (std::int64_t i = 0; i < num_layers; ++i) {
    layers.push_back(&register_module(
        "layers." + std::to_string(i),
        std::make_unique<TransformerDecoderLayer>(d_model, nhead, generator, options)));
  }
  const bool with_final_norm = ends_in_norm(final_norm, options.place());
  register_hyperparameter("final_norm", with_final_norm);
  if (with_final_norm) norm = &register_module("norm", make_norm(options, d_model));
}

Var TransformerDecoder::forward(const Var& x, const Var& memory, const AttentionMasks& masks,
                                const AttentionMasks& memory_masks) {
  Var stream = x;
  for (TransformerDecoderLayer* layer : layers) {
    stream = layer->forward(stream, memory, masks, memory_masks);
  }
  if (norm == nullptr) return stream;
  observe("norm.input", stream);
  return norm->forward(stream);
}

}  // namespace normlab
