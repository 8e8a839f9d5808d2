#pragma once

#include <chrono>
#include <string>

namespace normlab {

inline constexpr std::chrono::year kFirstNamedYear{1100};
inline constexpr std::chrono::year kLastNamedYear{2099};

// A date in words. Throws std::invalid_argument for what is no date of the calendar (February 29 of
// a common year) and for years outside 1100 .. 2099. The Gregorian leap years are used throughout,
// before 1582, too.
//
// German: ordinal day, month, year. Years are counted in hundreds to 1999, in thousands from 2000.
//   27.3.1984  siebenundzwanzigster März neunzehnhundertvierundachtzig
//    1.5.2005  erster Mai zweitausendfünf
std::string german_date(std::chrono::year_month_day date);
// English: month before day, no capitals. Years are read as two numbers, except 2000 .. 2009.
//   27.3.1984  march twenty-seventh nineteen eighty-four
//    1.5.1905  may first nineteen oh five
//    1.5.1900  may first nineteen hundred
//    1.5.2005  may first two thousand five
std::string english_date(std::chrono::year_month_day date);

}  // namespace normlab
