// Tested by tests/nn/transformer_encoder_test.cpp.
#include "nn/transformer_encoder.hpp"

#include <string>

#include "core/check.hpp"

namespace normlab {

TransformerEncoder::TransformerEncoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, Generator& generator,
                                       const TransformerEncoderLayer::Options& options,
                                       FinalNorm final_norm) {
  check(num_layers >= 1, "TransformerEncoder", "num_layers", "must be at least 1",
        [&] { return std::to_string(num_layers); });
  for (std::int64_t i = 0; i < num_layers; ++i) {
    layers.push_back(&register_module(
        "layers." + std::to_string(i),
        std::make_unique<TransformerEncoderLayer>(d_model, nhead, generator, options)));
  }
  const bool wanted = final_norm == FinalNorm::as_placement_needs ? options.norm_first
                                                                  : final_norm == FinalNorm::on;
  if (wanted) norm = &register_module("norm", TransformerEncoderLayer::make_norm(options, d_model));
}

Var TransformerEncoder::forward(const Var& x, const AttentionMasks& masks) {
  Var stream = x;
  for (TransformerEncoderLayer* layer : layers) stream = layer->forward(stream, masks);
  if (norm == nullptr) return stream;
  show("norm.input", stream);
  return norm->forward(stream);
}

}  // namespace normlab
