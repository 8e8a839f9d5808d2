#pragma once

#include <cstdint>
#include <string>

namespace normlab {

inline constexpr std::int64_t kLargestNamedNumber = 999'999;

// The name of a whole number from 0 to 999,999. Throws std::invalid_argument for any other number.
//
// German: one word, units before tens, and a single hundred or thousand is "ein":
//   27305  siebenundzwanzigtausenddreihundertfünf      101  einhunderteins (not hunderteins)
std::string german_number(std::int64_t number);
// English: several words, without "and":
//   27305  twenty-seven thousand three hundred five    101  one hundred one
std::string english_number(std::int64_t number);

}  // namespace normlab
