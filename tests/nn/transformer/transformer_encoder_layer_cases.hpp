#pragma once

#include <memory>

#include "nn/transformer/transformer_encoder_layer.hpp"
#include "tests/support/module_checks.hpp"

// Shared by the tests of TransformerEncoderLayer and TransformerEncoder.
namespace normlab {

inline TransformerEncoderLayer::Options small_options(bool norm_first, double dropout = 0.0) {
  return {.dim_feedforward = 10,
          .dropout = dropout,
          .activation = Activation::gelu,
          .norm_first = norm_first};
}

// Width 6, two heads, random parameters.
inline std::unique_ptr<TransformerEncoderLayer> small_layer(
    const TransformerEncoderLayer::Options& options) {
  Generator generator(1);
  auto layer = std::make_unique<TransformerEncoderLayer>(6, 2, generator, options);
  randomize_parameters(*layer);
  return layer;
}

}  // namespace normlab
