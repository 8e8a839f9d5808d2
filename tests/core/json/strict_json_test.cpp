#include "core/json/strict_json.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace normlab;

namespace {

// The message with which a text is refused, or "accepted".
std::string refusal(const std::string& text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, limits);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("parse_json: values come back, keys in their order") {
  const nlohmann::ordered_json json = parse_json(R"( {"b": [1, -2.5, true, null], "a": "ü"} )");
  CHECK(json.dump() == R"({"b":[1,-2.5,true,null],"a":"ü"})");
}

TEST_CASE("parse_json: what is refused, and how") {
  const struct {
    const char* text;
    const char* refusal;
  } cases[] = {
      {"", "is not JSON from byte 1 on"},
      {"{\"a\": 1", "is not JSON from byte 8 on"},
      {"[1] 2", "is not JSON from byte 5 on"},
      {"[NaN]", "is not JSON from byte 2 on"},
      {"[Infinity]", "is not JSON from byte 2 on"},
      {"[1e999]", "holds a number that is too large"},
      {"\"\xff\"", "is not JSON from byte 2 on"},
      {R"({"eps": 1, "eps": 2})", R"(has the key "eps" twice)"},
      {R"({"a": {"x": 1, "y": 2, "x": 3}})", R"(has the key "x" twice)"},
  };
  for (const auto& [case_text, expected] : cases) {
    const auto& text = case_text;
    CAPTURE(text);
    CHECK(refusal(text) == expected);
  }
  CHECK(refusal(std::string("[1]\0[2]", 7)) == "holds a zero byte");
  CHECK(refusal(R"([{"x": 1}, {"x": 2}])") == "accepted");  // one key in two objects
}

TEST_CASE("parse_json: 200,000 open brackets are refused without a crash") {
  CHECK(refusal(std::string(200'000, '[')) == "is nested more than 16 levels deep");
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  CHECK(refusal(objects) == "is nested more than 16 levels deep");
  CHECK(refusal("[[1]]", {.depth = 2}) == "accepted");
  CHECK(refusal("[[[1]]]", {.depth = 2}) == "is nested more than 2 levels deep");
}

TEST_CASE("parse_json: a text above the limit is not looked at") {
  CHECK(refusal("[12]", {.bytes = 3}) == "has 4 bytes, at most 3 are read");
  CHECK(refusal("[12]", {.bytes = 4}) == "accepted");
}

TEST_CASE("check_json_keys: an object has all of the keys and no others") {
  const auto refusal_of_keys = [](const char* text) -> std::string {
    try {
      check_json_keys(parse_json(text), {"a", "b"});
    } catch (const JsonError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refusal_of_keys(R"({"b": 1, "a": 2})") == "accepted");
  CHECK(refusal_of_keys(R"({"a": 2})") == R"(has no "b")");
  CHECK(refusal_of_keys(R"({"b": 1, "a": 2, "c": 3})") == R"(has the unknown key "c")");
  CHECK(refusal_of_keys("[1]") == "is not an object");
}

TEST_CASE("quote_json: control characters are escaped and long texts cut") {
  CHECK(quote_json("a\nb\x1b") == "\"a\\nb\\u001b\"");
  CHECK(quote_json(std::string(100, 'x')) == '"' + std::string(80, 'x') + "...\"");
}
