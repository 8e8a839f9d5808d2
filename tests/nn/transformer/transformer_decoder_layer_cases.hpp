#pragma once

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "nn/transformer/transformer_decoder_layer.hpp"
#include "tests/nn/transformer/transformer_encoder_layer_cases.hpp"

// Shared by the tests of TransformerDecoderLayer, TransformerDecoder and Transformer.
namespace normlab {

inline TransformerEncoderLayer::Options make_block_options(const FixtureCase& fixture) {
  return {.dim_feedforward = fixture.option<std::int64_t>("dim_feedforward"),
          .dropout = 0.0,
          .activation = fixture.option<std::string>("activation") == "gelu" ? Activation::gelu
                                                                            : Activation::relu,
          .layer_norm_eps = fixture.option<double>("layer_norm_eps"),
          .norm_first = fixture.option<bool>("norm_first"),
          .bias = fixture.option_or<bool>("bias", true)};
}

// Checks value and gradients of a decoder, or of one of its layers, against PyTorch's.
template <typename Decoder>
void check_decoder_fixture(Decoder& decoder, const FixtureCase& fixture) {
  const AttentionMasks masks = make_masks(fixture, "tgt_mask", "tgt_key_padding_mask");
  AttentionMasks memory_masks = make_masks(fixture, "memory_mask", "memory_key_padding_mask");
  memory_masks.is_causal = false;
  check_module_fixture(decoder, fixture, [&](const Vars& in) {
    return decoder.forward(in[0], in[1], masks, memory_masks);
  });
}

// Width 6, two heads, random parameters.
inline std::unique_ptr<TransformerDecoderLayer> small_decoder_layer(
    const TransformerDecoderLayer::Options& options) {
  Generator generator(1);
  auto layer = std::make_unique<TransformerDecoderLayer>(6, 2, generator, options);
  randomize_parameters(*layer);
  return layer;
}

template <typename Decoder>
Tensor decoded(Decoder& decoder, const Tensor& x, const Tensor& memory,
               const AttentionMasks& masks = {}, const AttentionMasks& memory_masks = {}) {
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  return decoder.forward(tape.constant(x), tape.constant(memory), masks, memory_masks).value();
}

// Checks the gradients of f(first, second), by both inputs and the module's parameters, against
// central differences.
inline void check_gradients_of_two(Module& module, const Tensor& first, const Tensor& second,
                                   const std::function<Var(const Var&, const Var&)>& f) {
  Parameter a{"first", first}, b{"second", second};
  std::vector<Parameter*> parameters = module.parameters();
  parameters.push_back(&a);
  parameters.push_back(&b);
  const GradcheckResult result = check_parameter_gradients(
      [&](Tape& tape) {
        const Var x = tape.watch(a), y = tape.watch(b);
        return f(x, y);
      },
      parameters);
  CHECK_MESSAGE(result.passed, result.report);
}

}  // namespace normlab
