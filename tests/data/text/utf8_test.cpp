#include "data/text/utf8.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

TEST_CASE("utf8: what RFC 3629 allows and what it does not") {
  using std::string_view_literals::operator""sv;
  // The first and last characters of each length, and those around the surrogates.
  for (const std::string_view good :
       {""sv, "\0"sv, "\x7F"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv,
        "\xEE\x80\x80"sv, "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv}) {
    CHECK_FALSE(find_invalid_utf8(good).has_value());
    CHECK(split_characters(good, "test").size() == (good.empty() ? 0 : 1));
  }
  for (const std::string_view bad :
       {"\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xC2"sv, "\xC2\x41"sv, "\xE0\x9F\xBF"sv,
        "\xE2\x82"sv, "\xE2\x82\x41"sv, "\xED\xA0\x80"sv, "\xF0\x8F\xBF\xBF"sv, "\xF0\x90\x80"sv,
        "\xF0\x90\x80\xC0"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv}) {
    const std::string text = "ä" + std::string(bad);
    CHECK(find_invalid_utf8(text) == std::optional<std::size_t>(2));
    check_refused([&] { split_characters(text, "test"); },
                  fmt::format("[test] text: must be UTF-8, got byte {:#04x} at position 2",
                              static_cast<unsigned char>(bad[0])));
  }
  CHECK(split_characters("aé€😀", "test") == std::vector<std::string_view>{"a", "é", "€", "😀"});
}
