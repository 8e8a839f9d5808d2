#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace normlab {

// The byte (from 0) at which the text stops being UTF-8 as RFC 3629 defines it: no overlong forms,
// no surrogates, nothing above U+10FFFF. Nothing if all of it is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// The characters (code points) of a text, each as its bytes: views into the text. `op` names the
// caller in the error, std::invalid_argument, if the text is not UTF-8.
std::vector<std::string_view> split_characters(std::string_view text, std::string_view op);

}  // namespace normlab
