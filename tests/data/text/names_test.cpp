#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "data/text/date_names.hpp"
#include "data/text/number_names.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

struct Named {
  std::int64_t number;
  std::string german, english;
};

// Written out by hand.
const std::vector<Named>& known_numbers() {
  static const std::vector<Named> known{
      {0, "null", "zero"},
      {1, "eins", "one"},
      {2, "zwei", "two"},
      {3, "drei", "three"},
      {4, "vier", "four"},
      {5, "fünf", "five"},
      {6, "sechs", "six"},
      {7, "sieben", "seven"},
      {8, "acht", "eight"},
      {9, "neun", "nine"},
      {10, "zehn", "ten"},
      {11, "elf", "eleven"},
      {12, "zwölf", "twelve"},
      {13, "dreizehn", "thirteen"},
      {14, "vierzehn", "fourteen"},
      {15, "fünfzehn", "fifteen"},
      {16, "sechzehn", "sixteen"},
      {17, "siebzehn", "seventeen"},
      {18, "achtzehn", "eighteen"},
      {19, "neunzehn", "nineteen"},
      {20, "zwanzig", "twenty"},
      {21, "einundzwanzig", "twenty-one"},
      {30, "dreißig", "thirty"},
      {40, "vierzig", "forty"},
      {50, "fünfzig", "fifty"},
      {60, "sechzig", "sixty"},
      {66, "sechsundsechzig", "sixty-six"},
      {70, "siebzig", "seventy"},
      {77, "siebenundsiebzig", "seventy-seven"},
      {80, "achtzig", "eighty"},
      {90, "neunzig", "ninety"},
      {100, "einhundert", "one hundred"},
      {101, "einhunderteins", "one hundred one"},
      {111, "einhundertelf", "one hundred eleven"},
      {121, "einhunderteinundzwanzig", "one hundred twenty-one"},
      {217, "zweihundertsiebzehn", "two hundred seventeen"},
      {1000, "eintausend", "one thousand"},
      {1001, "eintausendeins", "one thousand one"},
      {1100, "eintausendeinhundert", "one thousand one hundred"},
      {12012, "zwölftausendzwölf", "twelve thousand twelve"},
      {21000, "einundzwanzigtausend", "twenty-one thousand"},
      {27305, "siebenundzwanzigtausenddreihundertfünf", "twenty-seven thousand three hundred five"},
      {101000, "einhunderteintausend", "one hundred one thousand"},
      {201101, "zweihunderteintausendeinhunderteins", "two hundred one thousand one hundred one"},
      {999999, "neunhundertneunundneunzigtausendneunhundertneunundneunzig",
       "nine hundred ninety-nine thousand nine hundred ninety-nine"}};
  return known;
}

// The inverse, implemented differently: a dictionary, and words that multiply.
std::int64_t read_german(const std::string& name) {
  if (name.empty()) return 0;
  for (const auto& [word, factor] : {std::pair("tausend", 1000), std::pair("hundert", 100)}) {
    const std::size_t at = name.find(word);
    if (at == std::string::npos) continue;
    return factor * read_german(name.substr(0, at)) +
           read_german(name.substr(at + std::string(word).size()));
  }
  static const std::map<std::string, std::int64_t> words = [] {
    std::map<std::string, std::int64_t> result{{"ein", 1}};
    for (const Named& known : known_numbers()) result[known.german] = known.number;
    return result;
  }();
  const auto found = words.find(name);
  if (found != words.end()) return found->second;
  const std::size_t at = name.find("und");
  REQUIRE_MESSAGE(at != std::string::npos, name);
  return words.at(name.substr(0, at)) + words.at(name.substr(at + 3));
}

std::int64_t read_english(std::string name) {
  static const std::map<std::string, std::int64_t> words = [] {
    std::map<std::string, std::int64_t> result;
    for (const Named& known : known_numbers()) {
      if (known.number < 100) result[known.english] = known.number;
    }
    return result;
  }();
  std::ranges::replace(name, '-', ' ');
  std::int64_t thousands = 0, rest = 0;
  for (std::size_t start = 0; start < name.size();) {
    const std::size_t end = std::min(name.find(' ', start), name.size());
    const std::string word = name.substr(start, end - start);
    if (word == "thousand") {
      thousands = std::exchange(rest, 0);
    } else if (word == "hundred") {
      rest *= 100;
    } else {
      rest += words.at(word);
    }
    start = end + 1;
  }
  return 1000 * thousands + rest;
}

std::chrono::year_month_day day(int d, int m, int y) {
  return {std::chrono::year(y), std::chrono::month(static_cast<unsigned>(m)),
          std::chrono::day(static_cast<unsigned>(d))};
}

}  // namespace

TEST_CASE("number names: equal to names written out by hand") {
  for (const Named& known : known_numbers()) {
    CHECK(german_number(known.number) == known.german);
    CHECK(english_number(known.number) == known.english);
  }
}

TEST_CASE("number names: a name can be read back, so no two numbers share one") {
  // Every number up to 2,500, then steps of 199, which reach every ending.
  std::int64_t read = 0;
  for (std::int64_t n = 0; n <= kLargestNamedNumber; n += n < 2500 ? 1 : 199) {
    const std::string german = german_number(n), english = english_number(n);
    if (read_german(german) != n) FAIL_CHECK(german);
    if (read_english(english) != n) FAIL_CHECK(english);
    ++read;
  }
  CHECK(read == 2500 + (kLargestNamedNumber - 2500) / 199 + 1);
}

TEST_CASE("number names: numbers outside 0 to 999,999 are refused") {
  check_refused([] { german_number(-1); },
                "[german_number] number: must lie in 0 .. 999999, got -1");
  check_refused([] { english_number(1'000'000); },
                "[english_number] number: must lie in 0 .. 999999, got 1000000");
}

TEST_CASE("date names: every day of a month and every month as written out by hand") {
  const std::array<std::pair<std::string, std::string>, 31> days{{
      {"erster", "first"},
      {"zweiter", "second"},
      {"dritter", "third"},
      {"vierter", "fourth"},
      {"fünfter", "fifth"},
      {"sechster", "sixth"},
      {"siebter", "seventh"},
      {"achter", "eighth"},
      {"neunter", "ninth"},
      {"zehnter", "tenth"},
      {"elfter", "eleventh"},
      {"zwölfter", "twelfth"},
      {"dreizehnter", "thirteenth"},
      {"vierzehnter", "fourteenth"},
      {"fünfzehnter", "fifteenth"},
      {"sechzehnter", "sixteenth"},
      {"siebzehnter", "seventeenth"},
      {"achtzehnter", "eighteenth"},
      {"neunzehnter", "nineteenth"},
      {"zwanzigster", "twentieth"},
      {"einundzwanzigster", "twenty-first"},
      {"zweiundzwanzigster", "twenty-second"},
      {"dreiundzwanzigster", "twenty-third"},
      {"vierundzwanzigster", "twenty-fourth"},
      {"fünfundzwanzigster", "twenty-fifth"},
      {"sechsundzwanzigster", "twenty-sixth"},
      {"siebenundzwanzigster", "twenty-seventh"},
      {"achtundzwanzigster", "twenty-eighth"},
      {"neunundzwanzigster", "twenty-ninth"},
      {"dreißigster", "thirtieth"},
      {"einunddreißigster", "thirty-first"},
  }};
  for (int d = 1; d <= 31; ++d) {
    const auto& [german, english] = days.at(static_cast<std::size_t>(d - 1));
    CHECK(german_date(day(d, 3, 1984)) == german + " März neunzehnhundertvierundachtzig");
    CHECK(english_date(day(d, 3, 1984)) == "march " + english + " nineteen eighty-four");
  }
  const std::array<std::pair<std::string, std::string>, 12> months{{{"Januar", "january"},
                                                                    {"Februar", "february"},
                                                                    {"März", "march"},
                                                                    {"April", "april"},
                                                                    {"Mai", "may"},
                                                                    {"Juni", "june"},
                                                                    {"Juli", "july"},
                                                                    {"August", "august"},
                                                                    {"September", "september"},
                                                                    {"Oktober", "october"},
                                                                    {"November", "november"},
                                                                    {"Dezember", "december"}}};
  for (int m = 1; m <= 12; ++m) {
    const auto& [german, english] = months.at(static_cast<std::size_t>(m - 1));
    CHECK(german_date(day(1, m, 2000)) == "erster " + german + " zweitausend");
    CHECK(english_date(day(1, m, 2000)) == english + " first two thousand");
  }
}

TEST_CASE("date names: years are read in hundreds, in thousands, and with oh") {
  struct Year {
    int year;
    std::string german, english;
  };
  const std::vector<Year> years{
      {1100, "elfhundert", "eleven hundred"},
      {1101, "elfhunderteins", "eleven oh one"},
      {1211, "zwölfhundertelf", "twelve eleven"},
      {1616, "sechzehnhundertsechzehn", "sixteen sixteen"},
      {1770, "siebzehnhundertsiebzig", "seventeen seventy"},
      {1900, "neunzehnhundert", "nineteen hundred"},
      {1905, "neunzehnhundertfünf", "nineteen oh five"},
      {1921, "neunzehnhunderteinundzwanzig", "nineteen twenty-one"},
      {2001, "zweitausendeins", "two thousand one"},
      {2009, "zweitausendneun", "two thousand nine"},
      {2010, "zweitausendzehn", "twenty ten"},
      {2099, "zweitausendneunundneunzig", "twenty ninety-nine"},
  };
  for (const Year& year : years) {
    CHECK(german_date(day(1, 5, year.year)) == "erster Mai " + year.german);
    CHECK(english_date(day(1, 5, year.year)) == "may first " + year.english);
  }
}

TEST_CASE("date names: days that the Gregorian calendar does not have are refused") {
  for (const int leap : {1104, 1200, 1600, 1996, 2000, 2096}) {
    CHECK(german_date(day(29, 2, leap)).starts_with("neunundzwanzigster Februar "));
  }
  for (const int common : {1100, 1900, 1999, 2099}) {
    check_refused(
        [&] { german_date(day(29, 2, common)); },
        fmt::format("[german_date] date: must be a day of the calendar, from year 1100 to "
                    "2099, got day 29, month 2, year {}",
                    common));
  }
  for (const auto& wrong : {day(31, 4, 1984), day(0, 1, 1984), day(32, 1, 1984), day(1, 13, 1984),
                            day(1, 0, 1984), day(31, 12, 1099), day(1, 1, 2100)}) {
    check_refused([&] { english_date(wrong); }, "[english_date] date: must be a day");
  }
}
