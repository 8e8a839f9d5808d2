// Tested by tests/data/text/vocabulary_test.cpp.
#include "data/text/byte_pair_encoding.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <span>
#include <utility>

namespace normlab {

namespace {

// A pair in one number, which also orders pairs by left, then right symbol.
using PairKey = std::uint64_t;

PairKey key_of(std::int64_t left, std::int64_t right) {
  return static_cast<PairKey>(left) << 32 | static_cast<PairKey>(right);
}

std::pair<std::int64_t, std::int64_t> symbols_of(PairKey key) {
  return {static_cast<std::int64_t>(key >> 32), static_cast<std::int64_t>(key & 0xFFFFFFFF)};
}

// Joins every occurrence, from the left: in "aaa" the first two. Tells whether there was one.
bool apply_merge(Symbols& word, const Merge& merge) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < word.size(); ++i, ++kept) {
    const bool joined = i + 1 < word.size() && word[i] == merge.left && word[i + 1] == merge.right;
    word[kept] = joined ? merge.result : word[i];
    if (joined) ++i;
  }
  const bool changed = kept < word.size();
  word.resize(kept);
  return changed;
}

// The symbols of `word` that `other`, the same word before or after a merge, does not have in the
// same place from its beginning or end, with one neighbour on either side: only pairs of these
// differ.
std::span<const std::int64_t> changed_part(const Symbols& word, const Symbols& other) {
  const std::size_t shorter = std::min(word.size(), other.size());
  std::size_t front = 0, back = 0;
  while (front < shorter && word[front] == other[front]) ++front;
  while (back < shorter - front && word[word.size() - 1 - back] == other[other.size() - 1 - back])
    ++back;
  const std::size_t first = front > 0 ? front - 1 : 0;
  const std::size_t last = word.size() - (back > 0 ? back - 1 : 0);
  return std::span(word).subspan(first, last - first);
}

// How often every pair occurs, kept up to date from merge to merge. The most frequent one comes
// from a queue that is mended late: a count that fell leaves its old entry, which is found stale
// when it comes to the top.
class PairStatistics {
 public:
  explicit PairStatistics(std::vector<CountedWord> words) : words_(std::move(words)) {
    Changes changes;
    for (std::size_t place = 0; place < words_.size(); ++place) {
      for_pairs(words_[place].symbols, [&](PairKey pair) { places_[pair].push_back(place); });
      add(words_[place].symbols, words_[place].count, changes);
    }
    commit(changes);
  }

  std::optional<PairKey> most_frequent() {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      const std::int64_t count = counts_[top.pair];
      if (count == top.count) return count >= 2 ? std::optional(top.pair) : std::nullopt;
      queue_.pop();
      if (count > 0) queue_.push({count, top.pair});
    }
    return std::nullopt;
  }

  void merge(const Merge& merge) {
    Changes changes;
    // Some of these words may have lost the pair to another merge meanwhile.
    const auto places = places_.extract(key_of(merge.left, merge.right));
    for (const std::size_t place : places.mapped()) {
      CountedWord& word = words_[place];
      const Symbols before = word.symbols;
      if (!apply_merge(word.symbols, merge)) continue;
      const auto now = changed_part(word.symbols, before);
      add(changed_part(before, word.symbols), -word.count, changes);
      add(now, word.count, changes);
      for_pairs(now, [&](PairKey pair) {  // only pairs with the new symbol are new here
        const auto [left, right] = symbols_of(pair);
        if (left == merge.result || right == merge.result) places_[pair].push_back(place);
      });
    }
    commit(changes);
  }

 private:
  using Changes = std::unordered_map<PairKey, std::int64_t>;

  struct Candidate {
    std::int64_t count;
    PairKey pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  template <typename Use>
  static void for_pairs(std::span<const std::int64_t> word, Use use) {
    for (std::size_t i = 0; i + 1 < word.size(); ++i) use(key_of(word[i], word[i + 1]));
  }

  static void add(std::span<const std::int64_t> word, std::int64_t count, Changes& changes) {
    for_pairs(word, [&](PairKey pair) { changes[pair] += count; });
  }

  void commit(const Changes& changes) {
    for (const auto& [pair, change] : changes) {
      const std::int64_t count = counts_[pair] += change;
      if (change > 0) queue_.push({count, pair});
    }
  }

  std::vector<CountedWord> words_;
  std::unordered_map<PairKey, std::int64_t> counts_;
  std::unordered_map<PairKey, std::vector<std::size_t>> places_;  // the words that had the pair
  std::priority_queue<Candidate> queue_;
};

}  // namespace

std::vector<Merge> learn_merges(
    std::vector<CountedWord> words, std::int64_t merges,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& join) {
  PairStatistics statistics(std::move(words));
  std::vector<Merge> learned;
  while (std::ssize(learned) < merges) {
    const std::optional<PairKey> pair = statistics.most_frequent();
    if (!pair) break;
    const auto [left, right] = symbols_of(*pair);
    learned.push_back({left, right, join(left, right)});
    statistics.merge(learned.back());
  }
  return learned;
}

MergeTable::MergeTable(const std::vector<Merge>& merges) {
  for (const Merge& merge : merges) {
    entries_.try_emplace(key_of(merge.left, merge.right), Entry{entries_.size(), merge});
  }
}

void MergeTable::apply(Symbols& word) const {
  while (true) {
    const Entry* first = nullptr;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const auto found = entries_.find(key_of(word[i], word[i + 1]));
      if (found == entries_.end()) continue;
      if (first == nullptr || found->second.rank < first->rank) first = &found->second;
    }
    if (first == nullptr) return;
    apply_merge(word, first->merge);
  }
}

}  // namespace normlab
