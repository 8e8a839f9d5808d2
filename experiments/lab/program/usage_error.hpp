#pragma once

#include <stdexcept>

namespace normlab::lab {

// A command line that cannot be understood. The text is one line, without the program's name.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace normlab::lab
