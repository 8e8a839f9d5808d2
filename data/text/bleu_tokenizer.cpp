// Tested by tests/data/text/bleu_test.cpp.
#include "data/text/bleu_tokenizer.hpp"

namespace normlab {

namespace {

// The length in bytes of the white space character at the start of the text; 0 if there is none.
// White space is what Python's str.isspace() accepts.
std::size_t white_space_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  if (first == ' ' || (first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x1F))
    return 1;
  if (first == 0xC2)
    return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;  // next line, no-break space
  if (first < 0xE1 || first > 0xE3) return 0;
  const unsigned code = (first & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  const bool is_space = code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
                        code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
  return is_space ? 3 : 0;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_period_or_comma(char c) { return c == '.' || c == ','; }

// ASCII without control characters, letters, digits and ' , - .
bool is_separate(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string space_out_punctuation(std::string_view text) {
  std::string spaced;
  for (const char c : text) {
    if (is_separate(c)) {
      ((spaced += ' ') += c) += ' ';
    } else {
      spaced += c;
    }
  }
  return spaced;
}

// Puts a space between every two characters that match, and `before` and `after` around them, as a
// regular expression's substitution does: from the left, and no character belongs to two matches.
// Bytes may stand for characters here, because one character of each match is ASCII and the other
// may be anything.
template <typename Matches>
std::string space_out_pairs(std::string_view text, Matches matches, std::string_view before,
                            std::string_view after) {
  std::string spaced;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      ((((spaced += before) += text[i]) += ' ') += text[i + 1]) += after;
      ++i;
    } else {
      spaced += text[i];
    }
  }
  return spaced;
}

}  // namespace

std::vector<std::string_view> split_white_space(std::string_view sentence) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t space = white_space_length(sentence.substr(at));
    if (space == 0) {
      ++at;
      continue;
    }
    if (at > start) words.push_back(sentence.substr(start, at - start));
    at += space;
    start = at;
  }
  if (start < sentence.size()) words.push_back(sentence.substr(start));
  return words;
}

std::string tokenize_none(std::string_view sentence) {
  std::string joined;
  for (const std::string_view word : split_white_space(sentence)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

std::string tokenize_13a(std::string_view sentence) {
  // White space at the end is removed first, so that a hyphen before the last line end stays.
  const std::vector<std::string_view> words = split_white_space(sentence);
  if (words.empty()) return "";
  std::string text(sentence.begin(), words.back().end());
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  text = space_out_punctuation(' ' + text + ' ');
  const auto after_other = [](char a, char b) { return !is_digit(a) && is_period_or_comma(b); };
  const auto before_other = [](char a, char b) { return is_period_or_comma(a) && !is_digit(b); };
  const auto dash_after_digit = [](char a, char b) { return is_digit(a) && b == '-'; };
  text = space_out_pairs(text, after_other, "", " ");
  text = space_out_pairs(text, before_other, " ", "");
  text = space_out_pairs(text, dash_after_digit, "", " ");
  return tokenize_none(text);
}

}  // namespace normlab
