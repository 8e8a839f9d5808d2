// Tested by tests/nn/models/translation_decoding_test.cpp.
#include "nn/models/translation_decoding.hpp"

#include <algorithm>
#include <limits>

#include "core/ops/softmax.hpp"

namespace normlab {

namespace {

using Memory = TranslationTransformer::Memory;
using Sentences = TranslationTransformer::Sentences;

// Keeps the model in eval mode for its lifetime.
class Evaluating {
 public:
  explicit Evaluating(Module& model) : model_(model), before_(model.training()) { model.eval(); }
  ~Evaluating() { model_.train(before_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  Module& model_;
  bool before_;
};

// The model's log-probabilities of the token that follows each prefix.
Tensor next_log_probabilities(TranslationTransformer& model, const Memory& memory,
                              const std::vector<Prefix>& prefixes) {
  std::vector<std::int64_t> sentences;
  Sentences targets;
  for (const Prefix& prefix : prefixes) {
    sentences.push_back(prefix.sentence);
    targets.push_back(prefix.tokens);
  }
  const Tensor logits =
      model.decode(TranslationTransformer::select(memory, sentences), targets).value();
  const std::int64_t length = logits.shape()[1], vocabulary = logits.width();
  Tensor last = Tensor::uninitialized({std::ssize(prefixes), vocabulary});
  double* out = last.mutable_data();
  for (std::size_t i = 0; i < prefixes.size(); ++i, out += vocabulary) {
    const std::int64_t row = static_cast<std::int64_t>(i) * length + std::ssize(targets[i]) - 1;
    std::copy_n(logits.data() + row * vocabulary, vocabulary, out);
    out[model.options().padding] = -std::numeric_limits<double>::infinity();
  }
  return log_softmax(memory.tokens.tape().constant(last)).value();
}

std::vector<std::int64_t> without_end(std::vector<std::int64_t> tokens, std::int64_t end) {
  if (!tokens.empty() && tokens.back() == end) tokens.pop_back();
  return tokens;
}

}  // namespace

Sentences greedy_decode(TranslationTransformer& model, const Sentences& sources,
                        const SearchOptions& options) {
  const Evaluating evaluating(model);
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  const Memory memory = model.encode(tape, sources);
  const auto next = [&](const std::vector<Prefix>& prefixes) {
    return next_log_probabilities(model, memory, prefixes);
  };
  Sentences results;
  for (const Hypothesis& found : greedy_search(next, std::ssize(sources), options)) {
    results.push_back(without_end(found.tokens, options.end));
  }
  return results;
}

Sentences beam_decode(TranslationTransformer& model, const Sentences& sources,
                      const SearchOptions& options) {
  const Evaluating evaluating(model);
  Sentences results;
  for (const std::vector<std::int64_t>& source : sources) {
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    const Memory memory = model.encode(tape, {source});
    const auto next = [&](const std::vector<Prefix>& prefixes) {
      return next_log_probabilities(model, memory, prefixes);
    };
    results.push_back(without_end(beam_search(next, options).front().tokens, options.end));
  }
  return results;
}

}  // namespace normlab
