// -ffinite-math-only (part of -ffast-math and -Ofast) lets the compiler assume that there is no
// NaN: std::isfinite is then always true, and the anomaly mode, the gradient check and the tests
// would pass over any NaN in silence.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "normlab needs NaN and infinity: build without -ffast-math, -Ofast and -ffinite-math-only"
#endif

#include "core/check.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace normlab {

namespace {

std::string message(std::string_view op, std::string_view argument, std::string_view must,
                    std::string_view got) {
  return fmt::format("[{}] {}: {}, got {}", op, argument, must, got);
}

}  // namespace

void fail(std::string_view op, std::string_view argument, std::string_view must,
          std::string_view got) {
  throw std::invalid_argument(message(op, argument, must, got));
}

void fail_misuse(std::string_view op, std::string_view argument, std::string_view must,
                 std::string_view got) {
  throw std::logic_error(message(op, argument, must, got));
}

void fail_file(std::string_view op, std::string_view file, std::string_view problem,
               std::string_view hint) {
  throw std::runtime_error(fmt::format("[{}] {}: {}. HINT: {}", op, file, problem, hint));
}

void check_shape(std::string_view op, std::string_view argument, const Shape& got,
                 const Shape& expected) {
  if (got != expected) fail(op, argument, "must have shape " + expected.str(), got.str());
}

void check_at_least(std::string_view op, std::string_view name, double value, double lower) {
  check(std::isfinite(value) && value >= lower, op, name,
        fmt::format("must be a finite number of at least {}", lower), fmt::format("{}", value));
}

void check_probability(std::string_view op, std::string_view name, double value) {
  check(value >= 0.0 && value <= 1.0, op, name, "must be a probability in [0, 1]",
        fmt::format("{}", value));
}

}  // namespace normlab
