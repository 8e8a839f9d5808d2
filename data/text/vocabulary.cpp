// Tested by tests/data/text/vocabulary_test.cpp.
#include "data/text/vocabulary.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/text/utf8.hpp"

namespace normlab {

namespace {

constexpr char kWordStart = ' ';

// Cuts a sentence, which must begin with the space of its first word, before every space.
template <typename Use>
void for_each_word(std::string_view marked, Use use) {
  for (std::size_t start = 0; start < marked.size();) {
    const std::size_t end = std::min(marked.find(kWordStart, start + 1), marked.size());
    use(marked.substr(start, end - start));
    start = end;
  }
}

}  // namespace

// Holds the characters of the sentences and no merges.
Vocabulary::Vocabulary(Unit unit, const std::vector<std::string>& sentences) : unit_(unit) {
  std::set<std::string, std::less<>> characters;  // UTF-8 sorts like code points
  if (unit == Unit::subword) characters.emplace(1, kWordStart);
  for (const std::string& sentence : sentences) {
    for (const std::string_view character : split_characters(sentence, "Vocabulary")) {
      if (!characters.contains(character)) characters.emplace(character);
    }
  }
  for (const std::string& character : characters) add(character);
  character_count_ = std::ssize(characters);
}

Vocabulary Vocabulary::characters(const std::vector<std::string>& sentences) {
  return {Unit::character, sentences};
}

Vocabulary Vocabulary::subwords(const std::vector<std::string>& sentences, std::int64_t merges) {
  check(merges >= 0, "Vocabulary::subwords", "merges", "must not be negative",
        [&] { return std::to_string(merges); });
  Vocabulary vocabulary(Unit::subword, sentences);
  std::map<std::string, std::int64_t, std::less<>> counts;
  for (const std::string& sentence : sentences) {
    for_each_word(kWordStart + sentence, [&](std::string_view word) {
      const auto found = counts.find(word);
      if (found == counts.end()) {
        counts.emplace(word, 1);
      } else {
        ++found->second;
      }
    });
  }
  std::vector<CountedWord> words;
  for (const auto& [word, count] : counts) {
    words.push_back({vocabulary.character_numbers(word, "Vocabulary::subwords"), count});
  }
  const auto join = [&](std::int64_t left, std::int64_t right) {
    return vocabulary.add(vocabulary.token(left) + vocabulary.token(right));
  };
  vocabulary.set_merges(learn_merges(words, merges, join));
  return vocabulary;
}

std::int64_t Vocabulary::add(const std::string& token) {
  const auto [found, is_new] = numbers_.try_emplace(token, size());
  if (is_new) tokens_.push_back(token);
  return found->second;
}

Symbols Vocabulary::character_numbers(std::string_view text, std::string_view op) const {
  Symbols numbers;
  for (const std::string_view character : split_characters(text, op)) {
    const auto found = numbers_.find(std::string(character));
    numbers.push_back(found == numbers_.end() ? kUnknown : found->second);
  }
  return numbers;
}

void Vocabulary::set_merges(std::vector<Merge> merges) {
  merges_ = std::move(merges);
  merge_table_ = MergeTable(merges_);
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view sentence) const {
  if (unit_ == Unit::character) return character_numbers(sentence, "Vocabulary::encode");
  std::vector<std::int64_t> tokens;
  for_each_word(kWordStart + std::string(sentence), [&](std::string_view word) {
    Symbols symbols = character_numbers(word, "Vocabulary::encode");
    merge_table_.apply(symbols);
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
  });
  return tokens;
}

std::string Vocabulary::decode(const std::vector<std::int64_t>& tokens) const {
  std::string text;
  for (const std::int64_t number : tokens) {
    const std::string& spelled = token(number);
    if (number == kUnknown) {
      text += "\uFFFD";
    } else if (number > kUnknown) {
      text += spelled;
    }
  }
  // The space of the first word, which the output of a model may lack.
  if (unit_ == Unit::subword && text.starts_with(kWordStart)) text.erase(0, 1);
  return text;
}

const std::string& Vocabulary::token(std::int64_t number) const {
  check(number >= 0 && number < size(), "Vocabulary", "token",
        fmt::format("must lie in 0 .. {}", size() - 1), [&] { return std::to_string(number); });
  return tokens_[static_cast<std::size_t>(number)];
}

}  // namespace normlab
