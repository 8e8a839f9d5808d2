// Tested by tests/data/text/parallel_text_test.cpp.
#include "data/text/utf8.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

namespace {

// How many bytes the character takes at the beginning of a text that is not empty; 0 if there is
// none. The first byte tells the length, and narrows the second (RFC 3629, section 4).
std::size_t character_length(std::string_view text) {
  const auto between = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
           static_cast<unsigned char>(text[i]) <= high;
  };
  const auto first = static_cast<unsigned char>(text[0]);
  if (first <= 0x7F) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;  // a continuation, an overlong form, too large
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;  // overlong below
  const unsigned high = first == 0xED   ? 0x9F
                        : first == 0xF4 ? 0x8F
                                        : 0xBF;  // surrogates, too large
  if (!between(1, low, high)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!between(i, 0x80, 0xBF)) return 0;
  }
  return length;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::vector<std::string_view> split_characters(std::string_view text, std::string_view op) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    check(length > 0, op, "text", "must be UTF-8", [&] {
      return fmt::format("byte {:#04x} at position {}", static_cast<unsigned char>(text[at]), at);
    });
    characters.push_back(text.substr(at, length));
    at += length;
  }
  return characters;
}

}  // namespace normlab
