// Tested by tests/data/text/utf8_test.cpp.
#include "data/text/utf8.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include "core/check.hpp"

// utfcpp decodes, in the form that reports an error as a position. It took the place of our own 20
// lines of tables, which accepted and refused the same bytes; no other part of the library needs
// more of Unicode than this, so ICU would have been too much.
namespace normlab {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto invalid = utf8::find_invalid(text.begin(), text.end());
  if (invalid == text.end()) return std::nullopt;
  return static_cast<std::size_t>(invalid - text.begin());
}

std::vector<std::string_view> split_characters(std::string_view text, std::string_view op) {
  const std::optional<std::size_t> invalid = find_invalid_utf8(text);
  check(!invalid.has_value(), op, "text", "must be UTF-8", [&] {
    return fmt::format("byte {:#04x} at position {}", static_cast<unsigned char>(text[*invalid]),
                       *invalid);
  });
  std::vector<std::string_view> characters;
  for (auto start = text.begin(), end = start; start != text.end(); start = end) {
    utf8::unchecked::next(end);
    characters.emplace_back(start, end);
  }
  return characters;
}

}  // namespace normlab
