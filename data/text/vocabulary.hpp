#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/byte_pair_encoding.hpp"

namespace normlab {

// Sentences as numbers and back. Four numbers have a meaning of their own; then come the characters
// of the text in the order of their code points, then the subwords in the order of learning.
//
// decode(encode(s)) is s, spaces included, for every sentence of known characters.
class Vocabulary {
 public:
  static constexpr std::int64_t kPad = 0, kBegin = 1, kEnd = 2, kUnknown = 3;

  // One token a character (UTF-8 code point) that occurs in the sentences.
  static Vocabulary characters(const std::vector<std::string>& sentences);

  // Byte pair encoding within words (data/text/byte_pair_encoding.hpp), by at most `merges` merges.
  // A word begins with the space before it, which is its start mark: "the moth" is read as " the"
  // and " moth". So every space of the sentence is in some token, and a subword that begins a word
  // is another one than the same letters inside.
  static Vocabulary subwords(const std::vector<std::string>& sentences, std::int64_t merges);

  // No begin and no end are added. A character that is not in the vocabulary becomes kUnknown.
  // Throws std::invalid_argument if the sentence is not UTF-8.
  std::vector<std::int64_t> encode(std::string_view sentence) const;

  // Pad, begin and end are left out, and unknown is U+FFFD. Throws std::invalid_argument for a
  // number that is none of 0 .. size() - 1.
  std::string decode(const std::vector<std::int64_t>& tokens) const;

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  // What it spells; "<pad>", "<begin>", "<end>" or "<unknown>" for the first four.
  const std::string& token(std::int64_t number) const;

  // As JSON text on one line: the unit, the characters, and the two parts of every merge. load
  // gives the same vocabulary, or throws std::invalid_argument saying what is wrong with the text.
  std::string save() const;
  static Vocabulary load(std::string_view json);

 private:
  enum class Unit { character, subword };

  Vocabulary(Unit unit, const std::vector<std::string>& sentences);
  Vocabulary() = default;

  std::int64_t add(const std::string& token);  // its number, new or not
  Symbols numbers_of(std::string_view text, std::string_view op) const;
  void set_merges(std::vector<Merge> merges);

  Unit unit_ = Unit::character;
  std::vector<std::string> tokens_{"<pad>", "<begin>", "<end>", "<unknown>"};
  std::unordered_map<std::string, std::int64_t> numbers_;  // without the first four
  std::int64_t character_count_ = 0;
  std::vector<Merge> merges_;
  MergeTable merge_table_;
};

}  // namespace normlab
