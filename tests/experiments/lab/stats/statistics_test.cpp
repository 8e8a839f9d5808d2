#include "experiments/lab/stats/statistics.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace normlab;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("median: the middle value, in whatever order they come") {
  CHECK(median({7.0}) == 7.0);
  CHECK(median({3.0, -1.0, 2.0}) == 2.0);
  CHECK(median({5.0, 1.0, 4.0, 2.0, 3.0}) == 3.0);
  CHECK(median({2.0, 2.0, 9.0}) == 2.0);
}

TEST_CASE("median: the mean of the two middle values of an even count") {
  CHECK(median({4.0, 1.0}) == 2.5);
  CHECK(median({10.0, 1.0, 2.0, 4.0}) == 3.0);
}

TEST_CASE("median: of nothing is refused") {
  CHECK_THROWS_AS(median({}), std::invalid_argument);
  CHECK_THROWS_AS(spread({}), std::invalid_argument);
}

TEST_CASE("spread: median, smallest and largest") {
  const Spread s = spread({3.0, -1.0, 8.0, 2.0});
  CHECK(s.median == 2.5);
  CHECK(s.smallest == -1.0);
  CHECK(s.largest == 8.0);
}

TEST_CASE("spread: infinities have their place in the order") {
  const Spread s = spread({1.0, kInfinity, -kInfinity});
  CHECK(s.median == 1.0);
  CHECK(s.smallest == -kInfinity);
  CHECK(s.largest == kInfinity);
}

TEST_CASE("spread: one NaN shows wherever it stands") {
  for (const std::vector<double>& values :
       {std::vector{kNaN, 1.0, 2.0}, {1.0, kNaN, 2.0}, {1.0, 2.0, kNaN}}) {
    CHECK(std::isnan(median(values)));
    CHECK(std::isnan(spread(values).smallest));
    CHECK(std::isnan(spread(values).largest));
  }
}

TEST_CASE("estimate: mean and standard error by hand") {
  // Squared distances from 3 are 4, 0, 1 and 1: variance 2, of the mean 2/4.
  const Estimate e = estimate({1.0, 3.0, 4.0, 4.0});
  CHECK(e.mean == 3.0);
  CHECK(std::abs(e.error - std::sqrt(0.5)) < 1e-15);
  CHECK(estimate({7.0}).error == kInfinity);
  CHECK_THROWS_AS(estimate({}), std::invalid_argument);
}

TEST_CASE("root_mean: the error of the squares' mean, divided by twice the root") {
  const Estimate e = root_mean({1.0, 9.0, 17.0});  // mean 9, variance 64
  CHECK(e.mean == 3.0);
  CHECK(std::abs(e.error - 8.0 / std::sqrt(3.0) / 6.0) < 1e-15);
}
