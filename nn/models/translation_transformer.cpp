// Tested by tests/nn/models/translation_transformer_test.cpp.
#include "nn/models/translation_transformer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/layers/positional_encoding.hpp"
#include "nn/models/model_blocks.hpp"

namespace normlab {

namespace {

using Options = TranslationTransformer::Options;
using Tied = TranslationTransformer::TiedEmbeddings;

const Options& checked(const Options& options) {
  const std::int64_t source = options.source_vocabulary, target = options.target_vocabulary;
  check(source > 0 && target > 0 && options.d_model > 0, "TranslationTransformer",
        "source_vocabulary, target_vocabulary, d_model", "must be positive",
        [&] { return fmt::format("{}, {}, {}", source, target, options.d_model); });
  check(options.tied != Tied::all || source == target, "TranslationTransformer", "tied",
        "must not be all unless both vocabularies have one size",
        [&] { return fmt::format("all for {} and {}", source, target); });
  check(
      nn::norms().at(options.norm).properties.token_independent, "TranslationTransformer", "norm",
      "must have token_independent among its properties, or a decoder sees what it has to predict",
      options.norm);
  return options;
}

const char* name(Tied tied) {
  return tied == Tied::none ? "none" : tied == Tied::output ? "output" : "all";
}

double sqrt_d_model(const Options& options) {
  return std::sqrt(static_cast<double>(options.d_model));
}

// Standard deviation 1 / sqrt(d_model).
std::unique_ptr<Embedding> make_embedding(std::int64_t vocabulary, const Options& options,
                                          Generator& generator) {
  auto embedding = std::make_unique<Embedding>(vocabulary, options.d_model, generator,
                                               Embedding::Options{.padding_idx = options.padding});
  for (double& v : embedding->weight.value.mutable_values()) v /= sqrt_d_model(options);
  return embedding;
}

Transformer::Options transformer_options(const Options& options) {
  return {.d_model = options.d_model,
          .nhead = options.nhead,
          .num_encoder_layers = options.layers,
          .num_decoder_layers = options.layers,
          .layer = block_options(options)};
}

}  // namespace

TranslationTransformer::TranslationTransformer(const Options& options, Generator& generator)
    : source_embedding(
          register_module(options.tied == Tied::all ? "embedding" : "source_embedding",
                          make_embedding(checked(options).source_vocabulary, options, generator))),
      target_embedding(
          options.tied == Tied::all
              ? source_embedding
              : register_module("target_embedding",
                                make_embedding(options.target_vocabulary, options, generator))),
      dropout(register_module("dropout", std::make_unique<Dropout>(options.dropout, generator))),
      transformer(register_module(
          "transformer", std::make_unique<Transformer>(transformer_options(options), generator))),
      head(
          options.tied == Tied::none
              ? &register_module("head", std::make_unique<Linear>(
                                             options.d_model, options.target_vocabulary, generator))
              : nullptr),
      options_(options) {
  register_hyperparameter("norm", options.norm);
  register_hyperparameter("tied_embeddings", name(options.tied));
  register_hyperparameter("padding", options.padding);
  if (options.tied != Tied::none) register_alias("head.weight", target_embedding.weight);
  if (options.tied == Tied::all) {
    register_alias("source_embedding.weight", source_embedding.weight);
    register_alias("target_embedding.weight", target_embedding.weight);
  }
}

// (sentences, length, d_model)
Var TranslationTransformer::embed(Tape& tape, Embedding& embedding, const PaddedBatch& batch) {
  const Var rows = embedding.forward(tape, batch.tokens);
  const Var tokens = reshape(rows, {batch.sentences, batch.length, options_.d_model});
  const Var positions = tape.constant(sinusoidal_positions(batch.length, options_.d_model));
  return dropout.forward(sqrt_d_model(options_) * tokens + positions);
}

TranslationTransformer::Memory TranslationTransformer::encode(Tape& tape, const Sentences& source) {
  const PaddedBatch batch = padded("source", source, options_.padding);
  const Var x = embed(tape, source_embedding, batch);
  return {transformer.encoder.forward(x, {.key_padding_mask = batch.padding}), batch.padding};
}

Var TranslationTransformer::decode(const Memory& memory, const Sentences& target) {
  const PaddedBatch batch = padded("target", target, options_.padding);
  const std::int64_t sources = memory.tokens.shape()[0];
  check(batch.sentences == sources, "TranslationTransformer", "target",
        "must hold one sentence for each source",
        [&] { return fmt::format("{} for {}", batch.sentences, sources); });
  Tape& tape = memory.tokens.tape();
  const Var y = transformer.decoder.forward(embed(tape, target_embedding, batch), memory.tokens,
                                            {.key_padding_mask = batch.padding, .is_causal = true},
                                            {.key_padding_mask = memory.padding});
  return head != nullptr ? head->forward(y) : linear(y, tape.watch(target_embedding.weight));
}

TranslationTransformer::Memory TranslationTransformer::select(
    const Memory& memory, std::span<const std::int64_t> sentences) {
  Memory selected{index_select(memory.tokens, sentences)};
  if (!memory.padding.defined()) return selected;
  const std::int64_t length = memory.padding.width();
  selected.padding = Tensor::uninitialized({std::ssize(sentences), length});
  double* out = selected.padding.mutable_data();
  for (const std::int64_t sentence : sentences) {
    out = std::copy_n(memory.padding.data() + sentence * length, length, out);
  }
  return selected;
}

Var TranslationTransformer::forward(Tape& tape, const Sentences& source, const Sentences& target) {
  return decode(encode(tape, source), target);
}

}  // namespace normlab
