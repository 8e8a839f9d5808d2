// Tested by tests/nn/models/translation_transformer_test.cpp.
#include "nn/models/padded_batch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

PaddedBatch padded(std::string_view name, const std::vector<std::vector<std::int64_t>>& sentences,
                   std::int64_t padding_index) {
  check(!sentences.empty(), "padded", name, "must hold a sentence", "none");
  std::size_t longest = 0, shortest = sentences.front().size();
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    check(!sentences[i].empty(), "padded", name, "must hold sentences of at least one token",
          [&] { return fmt::format("none in sentence {}", i); });
    check(std::ranges::count(sentences[i], padding_index) == 0, "padded", name,
          fmt::format("must not hold the padding index {}", padding_index),
          [&] { return fmt::format("it in sentence {}", i); });
    longest = std::max(longest, sentences[i].size());
    shortest = std::min(shortest, sentences[i].size());
  }
  PaddedBatch batch{.sentences = std::ssize(sentences),
                    .length = static_cast<std::int64_t>(longest),
                    .tokens = std::vector<std::int64_t>(sentences.size() * longest, padding_index)};
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    std::ranges::copy(sentences[i],
                      batch.tokens.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  if (shortest == longest) return batch;
  batch.padding = Tensor::uninitialized({batch.sentences, batch.length});
  std::ranges::transform(batch.tokens, batch.padding.mutable_values().begin(),
                         [&](std::int64_t token) { return token == padding_index ? 1.0 : 0.0; });
  return batch;
}

}  // namespace normlab
