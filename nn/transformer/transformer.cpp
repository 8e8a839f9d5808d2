// Tested by tests/nn/transformer/transformer_test.cpp.
#include "nn/transformer/transformer.hpp"

#include "nn/init.hpp"

namespace normlab {

Transformer::Transformer(const Options& options, Generator& generator)
    : encoder(register_module(
          "encoder", std::make_unique<TransformerEncoder>(
                         options.num_encoder_layers, options.d_model, options.nhead, generator,
                         options.layer, EncoderStackOptions{options.final_norm}))),
      decoder(register_module(
          "decoder", std::make_unique<TransformerDecoder>(options.num_decoder_layers,
                                                          options.d_model, options.nhead, generator,
                                                          options.layer, options.final_norm))) {
  reset_parameters(generator);
}

void Transformer::reset_parameters(Generator& generator) {
  for (Parameter* parameter : parameters()) {
    if (parameter->value.rank() >= 2) init::xavier_uniform(parameter->value, generator);
  }
}

Var Transformer::forward(const Var& src, const Var& tgt, const Masks& masks) {
  const Var memory = encoder.forward(src, masks.source);
  return decoder.forward(tgt, memory, masks.target, masks.memory);
}

}  // namespace normlab
