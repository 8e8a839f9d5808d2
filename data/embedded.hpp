#pragma once

#include <string_view>

namespace normlab {

// The text of data/digits.csv, made a part of the library by the build.
std::string_view embedded_digits_csv();

}  // namespace normlab
