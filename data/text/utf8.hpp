#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace normlab {

// The position in bytes, from 0, of the first character that is not UTF-8 as RFC 3629 defines it:
// no overlong forms, no surrogates, nothing above U+10FFFF. Empty if the whole text is UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// The characters (code points) of the text, each as a view of its bytes; the text must outlive
// them. Throws std::invalid_argument if the text is not UTF-8; the message names the caller, `op`,
// the first invalid byte and its position from 0.
std::vector<std::string_view> split_characters(std::string_view text, std::string_view op);

}  // namespace normlab
