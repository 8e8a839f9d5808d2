// Tested by tests/nn/transformer/transformer_encoder_layer_test.cpp.
#include "nn/transformer/block_options.hpp"

#include "core/check.hpp"
#include "nn/init.hpp"
#include "nn/norms/layer_norm.hpp"

namespace normlab {

std::unique_ptr<Layer> make_norm(const BlockOptions& options, std::int64_t width) {
  if (!options.norm) {
    return std::make_unique<LayerNorm>(
        width, LayerNorm::Options{.eps = options.layer_norm_eps, .bias = options.bias});
  }
  std::unique_ptr<Layer> norm = options.norm(width);
  check(norm != nullptr, "TransformerEncoderLayer", "norm", "must make a module", "none");
  return norm;
}

std::unique_ptr<Layer> make_block_norm(const BlockOptions& options, std::int64_t width) {
  std::unique_ptr<Layer> norm = make_norm(options, width);
  if (options.norm_weight == 1.0) return norm;
  for (const auto& [name, parameter] : norm->named_parameters()) {
    if (name == "weight") init::constant(parameter->value, options.norm_weight);
  }
  return norm;
}

}  // namespace normlab
