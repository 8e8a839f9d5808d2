#pragma once

#include <string_view>

namespace normlab {

// The text of data/digits.csv, which the build compiles into the library.
std::string_view embedded_digits_csv();

}  // namespace normlab
