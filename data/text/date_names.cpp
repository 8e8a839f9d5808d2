// Tested by tests/data/text/names_test.cpp.
#include "data/text/date_names.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/text/number_names.hpp"

namespace normlab {

namespace {

using Months = std::array<std::string_view, 12>;

constexpr Months kGermanMonths{"Januar", "Februar", "März",      "April",   "Mai",      "Juni",
                               "Juli",   "August",  "September", "Oktober", "November", "Dezember"};
constexpr Months kEnglishMonths{"january",   "february", "march",    "april",
                                "may",       "june",     "july",     "august",
                                "september", "october",  "november", "december"};

constexpr std::array<std::string_view, 21> kEnglishOrdinals{
    "",           "first",     "second",    "third",       "fourth",     "fifth",      "sixth",
    "seventh",    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",    "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};

struct Date {
  std::int64_t day, month, year;
};

Date valid_date(std::string_view op, std::chrono::year_month_day date) {
  const Date plain{unsigned{date.day()}, unsigned{date.month()}, int{date.year()}};
  check(date.ok() && date.year() >= kFirstNamedYear && date.year() <= kLastNamedYear, op, "date",
        "must be a day of the calendar, from year 1100 to 2099", [&] {
          return fmt::format("day {}, month {}, year {}", plain.day, plain.month, plain.year);
        });
  return plain;
}

std::string_view month_name(const Months& months, const Date& date) {
  return months[static_cast<std::size_t>(date.month - 1)];
}

std::string german_ordinal(std::int64_t day) {
  switch (day) {
    case 1:
      return "erster";
    case 3:
      return "dritter";
    case 7:
      return "siebter";
    case 8:
      return "achter";
    default:
      return german_number(day) + (day < 20 ? "ter" : "ster");
  }
}

std::string german_year(std::int64_t year) {
  if (year >= 2000) return german_number(year);
  const std::int64_t rest = year % 100;
  return german_number(year / 100) + "hundert" + (rest == 0 ? "" : german_number(rest));
}

std::string english_ordinal(std::int64_t day) {
  const auto simple = [](std::int64_t n) { return kEnglishOrdinals[static_cast<std::size_t>(n)]; };
  if (day <= 20) return std::string(simple(day));
  if (day == 30) return "thirtieth";
  return fmt::format("{}-{}", english_number(day - day % 10), simple(day % 10));
}

std::string english_year(std::int64_t year) {
  if (year >= 2000 && year <= 2009) return english_number(year);
  const std::string century = english_number(year / 100);
  const std::int64_t rest = year % 100;
  if (rest == 0) return century + " hundred";
  return century + (rest < 10 ? " oh " : " ") + english_number(rest);
}

}  // namespace

std::string german_date(std::chrono::year_month_day date) {
  const Date d = valid_date("german_date", date);
  return fmt::format("{} {} {}", german_ordinal(d.day), month_name(kGermanMonths, d),
                     german_year(d.year));
}

std::string english_date(std::chrono::year_month_day date) {
  const Date d = valid_date("english_date", date);
  return fmt::format("{} {} {}", month_name(kEnglishMonths, d), english_ordinal(d.day),
                     english_year(d.year));
}

}  // namespace normlab
