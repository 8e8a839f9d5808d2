#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensor.hpp"

namespace normlab {

// Sentences of different lengths as one rectangle: each is followed by padding up to the length of
// the longest one.
struct PaddedBatch {
  std::int64_t sentences = 0, length = 0;
  std::vector<std::int64_t> tokens;  // sentences * length, one sentence after the other
  Tensor padding{};  // (sentences, length), 1 = padding, else 0; undefined if nothing is padded
};

// Throws std::invalid_argument if there is no sentence, if one has no tokens, and if one contains
// the padding index itself, which would be mistaken for padding. Errors call the sentences `name`.
PaddedBatch padded(std::string_view name, const std::vector<std::vector<std::int64_t>>& sentences,
                   std::int64_t padding_index);

}  // namespace normlab
