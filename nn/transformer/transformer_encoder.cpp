// Tested by tests/nn/transformer/transformer_encoder_test.cpp.
#include "nn/transformer/transformer_encoder.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

namespace {

BlockOptions for_depth(BlockOptions options, std::int64_t num_layers) {
  if (options.place() == Placement::deep_norm) {  // Wang et al. 2022, Figure 2, encoder only
    const auto depth = static_cast<double>(num_layers);
    options.deep_norm_alpha = std::pow(2.0 * depth, 0.25);
    options.deep_norm_beta = std::pow(8.0 * depth, -0.25);
  }
  return options;
}

}  // namespace

TransformerEncoder::TransformerEncoder(std::int64_t num_layers, std::int64_t d_model,
                                       std::int64_t nhead, Generator& generator,
                                       const BlockOptions& options,
                                       const EncoderStackOptions& stack) {
  check(num_layers >= 1, "TransformerEncoder", "num_layers", "must be at least 1",
        [&] { return std::to_string(num_layers); });
  check(stack.stream_norm_every >= 0, "TransformerEncoder", "stream_norm_every",
        "must not be negative", [&] { return std::to_string(stack.stream_norm_every); });
  const BlockOptions layer_options = for_depth(options, num_layers);
  for (std::int64_t i = 0; i < num_layers; ++i) {
    const std::string number = std::to_string(i);
    layers.push_back(&register_module(
        "layers." + number,
        std::make_unique<TransformerEncoderLayer>(d_model, nhead, generator, layer_options)));
    const bool with_norm = stack.stream_norm_every > 0 && (i + 1) % stack.stream_norm_every == 0;
    stream_norms_.push_back(
        with_norm ? &register_module("stream_norms." + number, make_norm(options, d_model))
                  : nullptr);
  }
  const bool with_final_norm = ends_in_norm(stack.final_norm, options.place());
  register_hyperparameter("final_norm", with_final_norm);
  if (with_final_norm) norm = &register_module("norm", make_norm(options, d_model));
}

Var TransformerEncoder::forward(const Var& x, const AttentionMasks& masks,
                                const std::optional<Var>& condition) {
  Var stream = x;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    stream = layers[i]->forward(stream, masks, condition);
    if (stream_norms_[i] != nullptr) stream = stream_norms_[i]->forward(stream);
  }
  return finish(stream);
}

Var TransformerEncoder::finish(const Var& stream) {
  if (norm == nullptr) return stream;
  observe("norm.input", stream);
  return norm->forward(stream);
}

std::string TransformerEncoder::describe() const {
  const PlacementEntry& placement = entry(layers.front()->options().place());
  std::string text = fmt::format("{} layers, {}, {}", layers.size(), placement.name,
                                 norm != nullptr ? "final norm" : "no final norm");
  if ((norm != nullptr) == placement.needs_final_norm) return text;
  return text + (norm != nullptr ? " (which the placement does not need, as asked for)"
                                 : " (although the stream is not normalized, as asked for)");
}

}  // namespace normlab
