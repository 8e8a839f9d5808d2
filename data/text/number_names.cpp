// Tested by tests/data/text/names_test.cpp.
#include "data/text/number_names.hpp"

#include <array>
#include <string_view>

#include "core/check.hpp"

namespace normlab {

namespace {

using Names = std::array<std::string_view, 20>;

// As they are written before "und", "hundert" and "tausend"; at the end of a name "ein" is "eins".
constexpr Names kGermanUnits{"",         "ein",      "zwei",     "drei",     "vier",
                             "fünf",     "sechs",    "sieben",   "acht",     "neun",
                             "zehn",     "elf",      "zwölf",    "dreizehn", "vierzehn",
                             "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<std::string_view, 10> kGermanTens{
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

constexpr Names kEnglishUnits{"",        "one",     "two",       "three",    "four",
                              "five",    "six",     "seven",     "eight",    "nine",
                              "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                              "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kEnglishTens{
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

template <std::size_t N>
std::string at(const std::array<std::string_view, N>& names, std::int64_t i) {
  return std::string(names[static_cast<std::size_t>(i)]);
}

void check_number(std::string_view op, std::int64_t number) {
  check(number >= 0 && number <= kLargestNamedNumber, op, "number", "must lie in 0 .. 999999",
        [&] { return std::to_string(number); });
}

// The name as the first part of a longer word; empty for 0.
std::string german_stem(std::int64_t n) {
  if (n >= 1000) return german_stem(n / 1000) + "tausend" + german_stem(n % 1000);
  if (n >= 100) return german_stem(n / 100) + "hundert" + german_stem(n % 100);
  if (n < 20) return at(kGermanUnits, n);
  const std::string units = german_stem(n % 10);
  return (units.empty() ? "" : units + "und") + at(kGermanTens, n / 10);
}

// The words with a separator before them, if there are any.
std::string after(std::string_view separator, const std::string& words) {
  return words.empty() ? "" : std::string(separator) + words;
}

// Empty for 0.
std::string english_words(std::int64_t n) {
  if (n >= 1000) return english_words(n / 1000) + " thousand" + after(" ", english_words(n % 1000));
  if (n >= 100) return english_words(n / 100) + " hundred" + after(" ", english_words(n % 100));
  if (n < 20) return at(kEnglishUnits, n);
  return at(kEnglishTens, n / 10) + after("-", english_words(n % 10));
}

}  // namespace

std::string german_number(std::int64_t number) {
  check_number("german_number", number);
  if (number == 0) return "null";
  // 1, 101 and 2001 end in "eins"; 11 and 21 do not.
  return german_stem(number) + (number % 100 == 1 ? "s" : "");
}

std::string english_number(std::int64_t number) {
  check_number("english_number", number);
  return number == 0 ? "zero" : english_words(number);
}

}  // namespace normlab
