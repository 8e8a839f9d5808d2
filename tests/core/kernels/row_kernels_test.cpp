#include "core/kernels/row_kernels.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace normlab;

TEST_CASE("lane_sum: adds every term once whatever the remainder of its lanes") {
  for (std::int64_t n = 0; n <= 33; ++n) {
    CAPTURE(n);
    const double sum = lane_sum(n, [](std::int64_t i) { return static_cast<double>(i * i + 1); });
    CHECK(sum == static_cast<double>((n - 1) * n * (2 * n - 1) / 6 + n));
  }
}

TEST_CASE("row_max: the largest number and NaN wherever it stands") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto max_of = [](const std::vector<double>& x) { return row_max(x.data(), std::ssize(x)); };
  CHECK(max_of({-3, -1, -2}) == -1.0);
  CHECK(max_of({1, infinity}) == infinity);
  CHECK(max_of({}) == -infinity);
  CHECK(std::isnan(max_of({nan, 1, 2})));
  CHECK(std::isnan(max_of({1, nan, 2})));
  CHECK(std::isnan(max_of({1, 2, nan})));
}
