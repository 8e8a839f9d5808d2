#pragma once

#include "nn/models/beam_search.hpp"
#include "nn/models/translation_transformer.hpp"

// What a trained model makes of a sentence. Both in evaluation mode, whatever mode the model is in
// (which it is left in), without recording gradients, and with every source read once.
//
// No keys and values are kept from token to token: each step reads the whole output so far again.
//
// The result is one output for each source, without begin and end token. The padding index is never
// chosen: as a part of an output it would be hidden from what comes after it.
namespace normlab {

// All sources in one batch.
TranslationTransformer::Sentences greedy_decode(TranslationTransformer& model,
                                                const TranslationTransformer::Sentences& sources,
                                                const SearchOptions& options = {});

// One source after the other, with the beam as the batch; the best output of each.
TranslationTransformer::Sentences beam_decode(TranslationTransformer& model,
                                              const TranslationTransformer::Sentences& sources,
                                              const SearchOptions& options = {});

}  // namespace normlab
