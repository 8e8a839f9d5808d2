#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.hpp"
#include "experiments/discrepancy/setup.hpp"

namespace normlab::discrepancy {

// The sequences of a setup, before they are embedded.
struct SequenceData {
  // (sequences, tokens, features): the pixels of a patch; the token itself (Gaussian); or the
  // number of the word.
  Tensor content;
  std::vector<std::int64_t> labels;  // one per token, in order

  // Sequences [first, last).
  SequenceData range(std::int64_t first, std::int64_t last) const;
};

inline constexpr std::int64_t kVocabulary = 10'000;

// Side of the square patches that cut a digit into so many. Throws std::invalid_argument unless it
// is 4, 16 or 64.
std::int64_t patch_side(std::int64_t tokens);

// The patches are those of the first digits, whatever the seed; all else is drawn, from a stream of
// the seed's own, so that a change of the data leaves the weights as they are. Throws
// std::invalid_argument if there are not as many digits.
SequenceData make_data(const Setup& setup, std::uint64_t seed);

}  // namespace normlab::discrepancy
