#include "data/text/byte_pair_encoding.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/random.hpp"

using namespace normlab;

namespace {

// Joins every occurrence, from the left: in "aaa" the first two.
void join_plainly(Symbols& word, const Merge& merge) {
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    if (word[i] != merge.left || word[i + 1] != merge.right) continue;
    word[i] = merge.result;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// As byte pair encoding is defined: the whole word is searched again after every merge.
Symbols apply_plainly(const std::vector<Merge>& merges, Symbols word) {
  while (true) {
    const auto fits = [&](const Merge& merge) {
      const std::vector<std::int64_t> pair{merge.left, merge.right};
      return std::search(word.begin(), word.end(), pair.begin(), pair.end()) != word.end();
    };
    const auto first = std::ranges::find_if(merges, fits);
    if (first == merges.end()) return word;
    join_plainly(word, *first);
  }
}

// As byte pair encoding is defined: all pairs are counted again for every merge.
template <typename Join>
std::vector<Merge> learn_plainly(std::vector<CountedWord> words, std::size_t merges, Join join) {
  std::vector<Merge> learned;
  while (learned.size() < merges) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
    for (const CountedWord& word : words) {
      for (std::size_t i = 0; i + 1 < word.symbols.size(); ++i) {
        counts[{word.symbols[i], word.symbols[i + 1]}] += word.count;
      }
    }
    // The first of the largest, in the order of the symbols.
    const auto best = std::ranges::max_element(
        counts, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    const auto [left, right] = best->first;
    learned.push_back({left, right, join(left, right)});
    for (CountedWord& word : words) join_plainly(word.symbols, learned.back());
  }
  return learned;
}

// Numbers what symbols spell, so that "a" + "bc" and "ab" + "c" make the same symbol.
class Spelling {
 public:
  explicit Spelling(std::string_view letters) {
    for (const char letter : letters) texts_.emplace_back(1, letter);
  }
  std::int64_t operator()(std::int64_t left, std::int64_t right) {
    const std::string text =
        texts_[static_cast<std::size_t>(left)] + texts_[static_cast<std::size_t>(right)];
    const auto found = std::ranges::find(texts_, text);
    if (found == texts_.end()) {
      texts_.push_back(text);
      return std::ssize(texts_) - 1;
    }
    return found - texts_.begin();
  }

 private:
  std::vector<std::string> texts_;
};

Symbols random_word(Generator& generator, std::int64_t length, std::int64_t letters) {
  Symbols word(static_cast<std::size_t>(length));
  for (std::int64_t& symbol : word) symbol = generator.randint(letters);
  return word;
}

std::vector<CountedWord> random_words(Generator& generator, std::int64_t letters) {
  std::vector<CountedWord> words;
  for (int i = 0; i < 6; ++i) {
    words.push_back(
        {random_word(generator, generator.randint(40), letters), 1 + generator.randint(3)});
  }
  return words;
}

bool equal(const std::vector<Merge>& a, const std::vector<Merge>& b) {
  return std::ranges::equal(a, b, [](const Merge& x, const Merge& y) {
    return x.left == y.left && x.right == y.right && x.result == y.result;
  });
}

}  // namespace

TEST_CASE("learn_merges: the same merges as counting all pairs again each time") {
  Generator generator(1);
  for (int text = 0; text < 200; ++text) {
    const std::int64_t letters = 1 + text % 4;  // few, so that there are runs such as aaa
    const std::vector<CountedWord> words = random_words(generator, letters);
    Spelling plain("abcd"), fast("abcd");
    const std::vector<Merge> expected = learn_plainly(words, 30, std::ref(plain));
    if (!equal(learn_merges(words, 30, std::ref(fast)), expected)) FAIL_CHECK("text ", text);
  }
  CHECK(learn_merges({}, 3, Spelling("a")).empty());
}

TEST_CASE("learn_merges: a symbol that two merges make is joined from the left as well") {
  // 3 4 1 2 1 2 -> 3 4 9 9 -> 9 9 9: the first pair of nines comes into being last.
  const auto join = [](std::int64_t left, std::int64_t right) -> std::int64_t {
    return left == 9 && right == 9 ? 10 : left < 9 ? 9 : 11;
  };
  const std::vector<Merge> merges = learn_merges({{{3, 4, 1, 2, 1, 2}, 2}}, 9, join);
  CHECK(equal(merges, {{1, 2, 9}, {3, 4, 9}, {9, 9, 10}, {10, 9, 11}}));
}

TEST_CASE("MergeTable: the same symbols as searching the word again after every merge") {
  Generator generator(2);
  std::int64_t joined = 0;
  for (int text = 0; text < 200; ++text) {
    const std::int64_t letters = 1 + text % 4;
    std::vector<Merge> merges =
        learn_merges(random_words(generator, letters), 30, Spelling("abcd"));
    // In a random order a join often makes an earlier merge fit, next to pairs still to be joined.
    if (text % 8 >= 4) {
      std::vector<Merge> shuffled;
      for (const std::int64_t i : generator.permutation(std::ssize(merges))) {
        shuffled.push_back(merges[static_cast<std::size_t>(i)]);
      }
      merges = shuffled;
    }
    const MergeTable table(merges);
    for (int i = 0; i < 10; ++i) {
      const Symbols word = random_word(generator, generator.randint(60), letters);
      Symbols got = word;
      table.apply(got);
      if (got != apply_plainly(merges, word)) FAIL_CHECK("text ", text);
      joined += std::ssize(word) - std::ssize(got);
    }
  }
  CHECK(joined > 10'000);
}

TEST_CASE("MergeTable: a merge is applied everywhere before one that it makes possible") {
  // x y x y: the second merge joins both pairs, although the first fits after one: (x y) x.
  const std::vector<Merge> merges{{2, 0, 3}, {0, 1, 2}};
  Symbols word{0, 1, 0, 1};
  MergeTable(merges).apply(word);
  CHECK(word == Symbols{2, 2});
}

TEST_CASE("byte pairs: a word of 400 kB, such as text without spaces, takes no quadratic time") {
  // Learning and applying 1,000 merges took 180 s when every merge went through the whole word.
  Generator generator(3);
  Symbols word;
  while (word.size() < 400'000) {  // letters that are not equally frequent
    word.push_back(std::min(generator.randint(26), generator.randint(26)));
  }
  const std::clock_t start = std::clock();
  std::int64_t next = 26;
  const std::vector<Merge> merges =
      learn_merges({{word, 1}}, 1000, [&](std::int64_t, std::int64_t) { return next++; });
  Symbols applied = word;
  MergeTable(merges).apply(applied);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(merges.size() == 1000);
  CHECK(applied.size() < word.size());
  CHECK(seconds < 10.0);
}
