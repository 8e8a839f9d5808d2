#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

// Byte pair encoding (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with
// Subword Units", ACL 2016): a word starts as a list of characters, and the most frequent pair of
// neighbouring symbols is joined into one symbol, again and again. Frequent words end up as one
// symbol, rare words as a few parts. Symbols are numbers here; the caller knows what they spell.
namespace normlab {

using Symbols = std::vector<std::int64_t>;

struct Merge {
  std::int64_t left, right;
  std::int64_t result;
};

// A word of the training text, and how often it occurs there.
struct CountedWord {
  Symbols symbols;
  std::int64_t count;
};

// Learns up to `merges` merges, in this order; fewer if no pair is left that occurs twice. Ties go
// to the pair with the smaller left symbol, then the smaller right symbol. `join` returns the
// symbol for a pair, which must differ from both. Symbols must lie in 0 .. 2^32 - 1.
//
// Takes O(n log n) time in the total length n of the words, whatever their lengths.
std::vector<Merge> learn_merges(
    const std::vector<CountedWord>& words, std::int64_t merges,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& join);

// Applies learned merges to other words.
class MergeTable {
 public:
  MergeTable() = default;
  explicit MergeTable(const std::vector<Merge>& merges);

  // Applies the earliest merge that fits everywhere in the word, from the left, until none fits.
  // Takes O(n log n) time in the length of the word.
  void apply(Symbols& word) const;

 private:
  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, std::size_t> ranks_;  // of a pair: its position in merges_
};

}  // namespace normlab
