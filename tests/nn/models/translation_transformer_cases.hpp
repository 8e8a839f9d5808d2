#pragma once

#include <memory>

#include "nn/models/translation_transformer.hpp"
#include "tests/support/module_checks.hpp"

// Shared by the tests of TranslationTransformer and of decoding.
namespace normlab {

using Tied = TranslationTransformer::TiedEmbeddings;
using Sentences = TranslationTransformer::Sentences;

inline constexpr std::int64_t kVocabulary = 7;

inline TranslationTransformer::Options tiny(Placement placement = Placement::pre,
                                            Tied tied = Tied::none) {
  return {.source_vocabulary = tied == Tied::all ? kVocabulary : 6,
          .target_vocabulary = kVocabulary,
          .layers = 2,
          .d_model = 6,
          .nhead = 2,
          .dim_feedforward = 5,
          .placement = placement,
          .dropout = 0.0,
          .tied = tied};
}

// With random parameters, so that norms are not the identity and biases are not 0.
inline std::unique_ptr<TranslationTransformer> small_model(
    const TranslationTransformer::Options& options) {
  Generator generator(2);
  auto model = std::make_unique<TranslationTransformer>(options, generator);
  randomize_parameters(*model);
  return model;
}

inline const Sentences kSources{{3, 4, 5, 1}, {5}, {2, 2, 3}};
inline const Sentences kTargets{{1, 3}, {1, 4, 5, 6, 3}, {1, 6, 6}};

inline Tensor decode_logits(TranslationTransformer& model, const Sentences& source,
                            const Sentences& target) {
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  return model.forward(tape, source, target).value();
}

// Position `at` of sentence `n`.
inline Tensor logits_row(const Tensor& logits, std::int64_t n, std::int64_t at) {
  const std::int64_t width = logits.width();
  const double* row = logits.data() + (n * logits.shape()[1] + at) * width;
  return Tensor({width}, std::span(row, static_cast<std::size_t>(width)));
}

}  // namespace normlab
