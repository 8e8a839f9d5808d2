#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

// Byte pair encoding (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with
// Subword Units", ACL 2016): words are written in characters, and the two symbols that most often
// stand beside each other become one symbol, again and again. Frequent words end up as one symbol,
// rare ones as a few parts. Here symbols are numbers; what they spell is the caller's affair.
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

// Up to `merges` merges, in the order of learning; fewer where no pair is left that occurs twice.
// Of pairs equally often the one with the smaller left symbol, then right symbol, is merged first.
// `join` gives the symbol that two symbols make, another one than these. Symbols must lie in
// 0 .. 2^32 - 1.
//
// Costs what the words that change cost, not the whole text, for each merge.
std::vector<Merge> learn_merges(
    std::vector<CountedWord> words, std::int64_t merges,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& join);

// Learned merges, to be applied to other words.
class MergeTable {
 public:
  MergeTable() = default;
  explicit MergeTable(const std::vector<Merge>& merges);

  // Applies the earliest learned merge that fits, everywhere in the word, until none fits.
  void apply(Symbols& word) const;

 private:
  struct Entry {
    std::size_t rank;
    Merge merge;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace normlab
