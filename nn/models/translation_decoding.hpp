#pragma once

#include "nn/models/beam_search.hpp"
#include "nn/models/translation_transformer.hpp"

// Translations by a trained model. Both functions switch the model to eval mode and back, record no
// gradients, and encode every source once.
//
// Keys and values are not cached: each step runs the decoder over the whole output so far.
//
// The result is one output for each source, without begin and end token. The padding index is never
// chosen, since inside an output it would be hidden from the tokens that follow.
namespace normlab {

// All sources in one batch.
TranslationTransformer::Sentences greedy_decode(TranslationTransformer& model,
                                                const TranslationTransformer::Sentences& sources,
                                                const SearchOptions& options = {});

// One source after the other, with the beam as the batch; returns the best output for each.
TranslationTransformer::Sentences beam_decode(TranslationTransformer& model,
                                              const TranslationTransformer::Sentences& sources,
                                              const SearchOptions& options = {});

}  // namespace normlab
