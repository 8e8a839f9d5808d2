#include "core/kernels/normal_distribution.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

using namespace normlab;

namespace {

struct Distribution {
  std::vector<double> cdf, density;
};

Distribution at(const std::vector<double>& x) {
  Distribution result{std::vector<double>(x.size(), -1.0), std::vector<double>(x.size(), -1.0)};
  normal_distribution(x.data(), result.cdf.data(), result.density.data(), std::ssize(x));
  return result;
}

// Both sides round x / sqrt(2), and erfc amplifies that error by x^2.
bool agrees(double got, double expected) {
  return std::abs(got - expected) <= 3e-14 * std::abs(expected);
}

}  // namespace

TEST_CASE("normal_distribution: agrees with erfc and exp, in the tails too") {
  std::vector<double> x;
  for (int i = 0; i <= 30'000; ++i) x.push_back(-8.98 + i * (17.96 / 30'000));
  for (int i = -40; i <= 40; ++i) x.push_back(i / 64.0);  // at the points and midway
  const Distribution result = at(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double density = std::exp(-0.5 * x[i] * x[i]) / std::sqrt(2.0 * std::numbers::pi);
    CAPTURE(x[i]);
    REQUIRE(agrees(result.cdf[i], 0.5 * std::erfc(-x[i] / std::numbers::sqrt2)));
    REQUIRE(agrees(result.density[i], density));
  }
}

TEST_CASE("normal_distribution: 0 and 1 at the ends, one half in the middle") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Distribution result = at({-infinity, -1e300, -9.0, 0.0, 1e-300, 9.0, 1e300, infinity});
  CHECK(result.cdf == std::vector<double>{0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 1.0});
  CHECK(result.density[2] == 0.0);
  CHECK(agrees(result.density[3], 0.39894228040143267794));
  CHECK(result.density[5] == 0.0);
}

TEST_CASE("normal_distribution: a number's result does not depend on where it stands") {
  const Distribution alone = at({0.7});
  CHECK(at({}).cdf.empty());
  for (const std::size_t size : {1u, 2u, 3u, 5u, 63u, 64u, 65u, 130u}) {
    const Distribution result = at(std::vector<double>(size, 0.7));
    CHECK(result.cdf == std::vector<double>(size, alone.cdf[0]));
    CHECK(result.density == std::vector<double>(size, alone.density[0]));
  }
}
