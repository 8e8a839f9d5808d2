#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/byte_pair_encoding.hpp"

namespace normlab {

// Turns sentences into token numbers and back. The numbers 0 to 3 are the special tokens below; the
// characters of the text follow in the order of their code points, then the subwords in the order
// in which they were learned.
//
// decode(encode(s)) is s, spaces included, for every sentence s of known characters.
class Vocabulary {
 public:
  static constexpr std::int64_t kPad = 0, kBegin = 1, kEnd = 2, kUnknown = 3;

  // One token for each character (code point) that occurs in the sentences. Throws
  // std::invalid_argument if a sentence is not UTF-8.
  static Vocabulary characters(const std::vector<std::string>& sentences);

  // Byte pair encoding within words (data/text/byte_pair_encoding.hpp), by at most `merges` merges.
  // A word begins with the space before it: "the moth" is read as " the" and " moth". So every
  // space of the sentence belongs to a token, and a subword at the start of a word is a different
  // token from the same letters inside a word. Throws std::invalid_argument if a sentence is not
  // UTF-8 or `merges` is negative.
  static Vocabulary subwords(const std::vector<std::string>& sentences, std::int64_t merges);

  // Adds no begin or end token. A character that is not in the vocabulary becomes kUnknown. Throws
  // std::invalid_argument if the sentence is not UTF-8.
  std::vector<std::int64_t> encode(std::string_view sentence) const;

  // Leaves out pad, begin and end, and writes unknown as U+FFFD. Throws std::invalid_argument for a
  // number outside 0 .. size() - 1.
  std::string decode(const std::vector<std::int64_t>& tokens) const;

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  // What the token spells; "<pad>", "<begin>", "<end>" or "<unknown>" for the special ones. Throws
  // std::invalid_argument for a number outside 0 .. size() - 1.
  const std::string& token(std::int64_t number) const;

  // JSON on one line: the unit, the characters, and the two parts of every merge. `load` returns
  // the same vocabulary; it throws std::invalid_argument if the text is not one that `save` can
  // write.
  std::string save() const;
  static Vocabulary load(std::string_view json);

 private:
  enum class Unit { character, subword };

  Vocabulary(Unit unit, const std::vector<std::string>& sentences);
  Vocabulary() = default;

  std::int64_t add(const std::string& token);  // returns its number, also if it is not new
  Symbols character_numbers(std::string_view text, std::string_view op) const;
  void set_merges(std::vector<Merge> merges);

  Unit unit_ = Unit::character;
  std::vector<std::string> tokens_{"<pad>", "<begin>", "<end>", "<unknown>"};
  std::unordered_map<std::string, std::int64_t> numbers_;  // without the special tokens
  std::int64_t character_count_ = 0;
  std::vector<Merge> merges_;
  MergeTable merge_table_;
};

}  // namespace normlab
