#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/shape.hpp"

// Every error message of the library is assembled here, in one form:
//
//   [op] argument: what must hold, got what came
//
// std::invalid_argument  the caller's data does not fit (shape, range, value)
// std::logic_error       the library was misused (backward of a non-scalar, two tapes in one op)
// std::runtime_error     something outside failed (a file); says what to do in a HINT
namespace normlab {

[[noreturn]] void fail(std::string_view op, std::string_view argument, std::string_view must,
                       std::string_view got);
[[noreturn]] void fail_misuse(std::string_view op, std::string_view argument, std::string_view must,
                              std::string_view got);
[[noreturn]] void fail_file(std::string_view op, std::string_view file, std::string_view problem,
                            std::string_view hint);

// `got` may be a string, or a callable that returns one and is called only if the check fails, for
// texts that cost time to build.
template <typename Got>
void check(bool holds, std::string_view op, std::string_view argument, std::string_view must,
           Got&& got) {
  if (holds) return;
  if constexpr (std::invocable<Got>) {
    fail(op, argument, must, got());
  } else {
    fail(op, argument, must, got);
  }
}

void check_shape(std::string_view op, std::string_view argument, const Shape& got,
                 const Shape& expected);
// `value` must be finite and at least `lower` (`name` is what the caller calls it).
void check_at_least(std::string_view op, std::string_view name, double value, double lower);
// A probability in [0, 1].
void check_probability(std::string_view op, std::string_view name, double value);

}  // namespace normlab
