#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// The one reader of JSON from files and other foreign sources: nothing in the text is believed.
namespace normlab {

// What is wrong with a text, as the end of a sentence that begins with its name: "has the key "eps"
// twice". Callers catch it and name the file.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct JsonLimits {
  std::size_t depth = 16;           // objects and arrays inside one another
  std::size_t bytes = 100'000'000;  // of the text
};

// Object keys keep their order. Throws JsonError for text that
//   - is no JSON (RFC 8259, so NaN and Infinity are refused, too), is not UTF-8 or holds a zero
//   byte,
//   - has a number too large for a double,
//   - has a key twice in one object,
//   - exceeds a limit.
nlohmann::ordered_json parse_json(std::string_view text, const JsonLimits& limits = {});

// Throws JsonError unless `json` is an object with these keys, all of them and no others.
void check_json_keys(const nlohmann::ordered_json& json,
                     std::initializer_list<std::string_view> keys);

// Text from a file for an error message: in quotes, control characters escaped, cut after 80 bytes.
std::string quote_json(std::string_view text);

}  // namespace normlab
