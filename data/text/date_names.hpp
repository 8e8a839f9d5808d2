#pragma once

#include <chrono>
#include <string>

namespace normlab {

inline constexpr std::chrono::year kFirstNamedYear{1100};
inline constexpr std::chrono::year kLastNamedYear{2099};

// A date in words. Throws std::invalid_argument if the calendar has no such day (February 29 of a
// common year) or the year is outside 1100 .. 2099. Leap years are Gregorian, even before 1582.
//
// German: ordinal day, month, year. Years up to 1999 are counted in hundreds, later ones in
// thousands.
//   27.3.1984  siebenundzwanzigster März neunzehnhundertvierundachtzig
//    1.5.2005  erster Mai zweitausendfünf
std::string german_date(std::chrono::year_month_day date);
// English: month before day, no capitals. Years are read as two numbers, except 2000 to 2009.
//   27.3.1984  march twenty-seventh nineteen eighty-four
//    1.5.1905  may first nineteen oh five
//    1.5.1900  may first nineteen hundred
//    1.5.2005  may first two thousand five
std::string english_date(std::chrono::year_month_day date);

}  // namespace normlab
