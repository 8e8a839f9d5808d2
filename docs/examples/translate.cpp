// Three sentences learned by heart by an encoder-decoder (docs/training.md).
#include <fmt/format.h>

#include "core/ops/cross_entropy.hpp"
#include "data/text/vocabulary.hpp"
#include "nn/models/translation_decoding.hpp"
#include "nn/optim/optimizer.hpp"

using namespace normlab;

int main() {
  const std::vector<std::string> german{"zwei", "zwölf", "einundzwanzig"};
  const std::vector<std::string> english{"two", "twelve", "twenty-one"};
  const Vocabulary from = Vocabulary::characters(german), to = Vocabulary::characters(english);

  // The decoder reads begin, t, w, o and is asked for t, w, o, end.
  TranslationTransformer::Sentences source, read, asked;
  for (std::size_t i = 0; i < german.size(); ++i) {
    source.push_back(from.encode(german[i]));
    read.push_back(to.encode(english[i]));
    asked.push_back(read.back());
    read.back().insert(read.back().begin(), Vocabulary::kBegin);
    asked.back().push_back(Vocabulary::kEnd);
  }
  const PaddedBatch labels = padded("labels", asked, Vocabulary::kPad);

  Generator generator(0);
  TranslationTransformer model({.source_vocabulary = from.size(),
                                .target_vocabulary = to.size(),
                                .layers = 1,
                                .d_model = 16,
                                .nhead = 2,
                                .dim_feedforward = 32,
                                .dropout = 0.0},
                               generator);
  Optimizer optimizer(model.parameters(), Adam{});
  for (int step = 1; step <= 100; ++step) {
    Tape tape;
    const Var loss = cross_entropy(model.forward(tape, source, read), labels.tokens,
                                   {.ignore_index = Vocabulary::kPad});
    model.zero_grad();
    tape.backward(loss);
    optimizer.step(1e-2);
  }
  for (const std::vector<std::int64_t>& output : greedy_decode(model, source)) {
    fmt::print("{}\n", to.decode(output));
  }
}
