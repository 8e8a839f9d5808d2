#pragma once

#include <string>

namespace normlab {

// A sentence as lines of at most 80 columns, each after two spaces; a word that is longer by itself
// stays whole.
std::string wrapped(const std::string& sentence);

}  // namespace normlab
