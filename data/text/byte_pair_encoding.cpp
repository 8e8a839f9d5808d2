// Tested by tests/data/text/byte_pair_encoding_test.cpp.
#include "data/text/byte_pair_encoding.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

namespace normlab {

namespace {

// A pair in one number, which also orders pairs by left, then right symbol.
using PairKey = std::uint64_t;

PairKey pair_key(std::int64_t left, std::int64_t right) {
  return static_cast<PairKey>(left) << 32 | static_cast<PairKey>(right);
}

std::pair<std::int64_t, std::int64_t> pair_symbols(PairKey key) {
  return {static_cast<std::int64_t>(key >> 32), static_cast<std::int64_t>(key & 0xFFFFFFFF)};
}

// Words as linked lists of symbols, so that two neighbours are joined in constant time. Symbols are
// identified by their place, the position at which they were appended; a joined symbol keeps the
// place of its left part, and the place of its right part becomes unused.
class LinkedWords {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::size_t size() const { return symbols_.size(); }  // in places

  void append(const Symbols& word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      const std::size_t place = size();
      symbols_.push_back(word[i]);
      previous_.push_back(i == 0 ? kNone : place - 1);
      next_.push_back(i + 1 == word.size() ? kNone : place + 1);
    }
  }

  // kNone at the start of a word.
  std::size_t previous(std::size_t place) const { return previous_[place]; }

  // The pair whose left symbol is at `place`. Empty if there is none: at the end of a word, at an
  // unused place, and for kNone.
  std::optional<PairKey> pair(std::size_t place) const {
    if (place == kNone || next_[place] == kNone) return std::nullopt;
    return pair_key(symbols_[place], symbols_[next_[place]]);
  }
  // The pair whose left symbol is the right symbol of the pair at `place`.
  std::optional<PairKey> pair_after(std::size_t place) const { return pair(next_[place]); }

  // Replaces the pair at `place` by one symbol.
  void join(std::size_t place, std::int64_t result) {
    const std::size_t right = next_[place];
    symbols_[place] = result;
    next_[place] = next_[right];
    if (next_[place] != kNone) previous_[next_[place]] = place;
    next_[right] = kNone;
    previous_[right] = kUnused;
  }

  // All symbols that are left, in their order.
  Symbols symbols() const {
    Symbols left;
    for (std::size_t place = 0; place < size(); ++place) {
      if (previous_[place] != kUnused) left.push_back(symbols_[place]);
    }
    return left;
  }

 private:
  static constexpr std::size_t kUnused = kNone - 1;

  Symbols symbols_;
  std::vector<std::size_t> previous_, next_;
};

// How often every pair occurs, updated by every merge. The most frequent pair comes from a queue
// whose entries are corrected late: a count that fell leaves its old entry, which turns out to be
// stale when it reaches the top.
class PairStatistics {
 public:
  explicit PairStatistics(const std::vector<CountedWord>& words) {
    Changes changes;
    for (const CountedWord& word : words) {
      words_.append(word.symbols);
      word_counts_.resize(words_.size(), word.count);
    }
    for (std::size_t place = 0; place < words_.size(); ++place) add_pair(place, changes);
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

  // Joins every occurrence, from the left: in "aaa" the first two.
  void merge(const Merge& merge) {
    const PairKey merged = pair_key(merge.left, merge.right);
    std::vector<std::size_t> places = std::move(places_.extract(merged).mapped());
    std::ranges::sort(places);
    Changes changes;
    for (const std::size_t place : places) {
      if (words_.pair(place) != merged) continue;  // joined with another neighbour meanwhile
      const std::int64_t count = word_counts_[place];
      const std::size_t before = words_.previous(place);
      changes[merged] -= count;
      if (const auto pair = words_.pair(before)) changes[*pair] -= count;
      if (const auto pair = words_.pair_after(place)) changes[*pair] -= count;
      words_.join(place, merge.result);
      add_pair(before, changes);
      add_pair(place, changes);
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

  void add_pair(std::size_t place, Changes& changes) {
    const std::optional<PairKey> pair = words_.pair(place);
    if (!pair) return;
    changes[*pair] += word_counts_[place];
    places_[*pair].push_back(place);
  }

  void commit(const Changes& changes) {
    for (const auto& [pair, change] : changes) {
      const std::int64_t count = counts_[pair] += change;
      if (change > 0) queue_.push({count, pair});
    }
  }

  LinkedWords words_;
  std::vector<std::int64_t> word_counts_;  // by place: how often the word occurs in the text
  std::unordered_map<PairKey, std::int64_t> counts_;
  std::unordered_map<PairKey, std::vector<std::size_t>> places_;  // where the pair is or was
  std::priority_queue<Candidate> queue_;
};

}  // namespace

std::vector<Merge> learn_merges(
    const std::vector<CountedWord>& words, std::int64_t merges,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& join) {
  PairStatistics statistics(words);
  std::vector<Merge> learned;
  while (std::ssize(learned) < merges) {
    const std::optional<PairKey> pair = statistics.most_frequent();
    if (!pair) break;
    const auto [left, right] = pair_symbols(*pair);
    learned.push_back({left, right, join(left, right)});
    statistics.merge(learned.back());
  }
  return learned;
}

MergeTable::MergeTable(const std::vector<Merge>& merges) : merges_(merges) {
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    ranks_.try_emplace(pair_key(merges[rank].left, merges[rank].right), rank);
  }
}

void MergeTable::apply(Symbols& word) const {
  LinkedWords words;
  words.append(word);
  using Candidate = std::pair<std::size_t, std::size_t>;  // rank of a merge and place of its pair
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto add_candidate = [&](std::size_t place) {
    const std::optional<PairKey> pair = words.pair(place);
    const auto found = pair ? ranks_.find(*pair) : ranks_.end();
    if (found != ranks_.end()) candidates.emplace(found->second, place);
  };
  for (std::size_t place = 0; place < word.size(); ++place) add_candidate(place);
  std::vector<std::size_t> joined;
  while (!candidates.empty()) {
    const std::size_t rank = candidates.top().first;
    const Merge& merge = merges_[rank];
    joined.clear();
    for (; !candidates.empty() && candidates.top().first == rank; candidates.pop()) {
      const std::size_t place = candidates.top().second;
      if (words.pair(place) != pair_key(merge.left, merge.right)) continue;  // joined meanwhile
      words.join(place, merge.result);
      joined.push_back(place);
    }
    // Only now: an earlier merge that became possible must wait until this one is done.
    for (const std::size_t place : joined) {
      add_candidate(words.previous(place));
      add_candidate(place);
    }
  }
  word = words.symbols();
}

}  // namespace normlab
