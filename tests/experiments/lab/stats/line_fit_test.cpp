#include "experiments/lab/stats/line_fit.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace normlab;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("fit_line: a line is found, and its slope is certain") {
  const LineFit fit = fit_line({1.0, 2.0, 4.0}, {1.0, -1.0, -5.0});
  CHECK(std::abs(fit.slope + 2.0) < 1e-14);
  CHECK(std::abs(fit.intercept - 3.0) < 1e-14);
  CHECK(fit.slope_error < 1e-14);
}

TEST_CASE("fit_line: slope and standard error by hand") {
  // Means 1 and 4/3, xx = 2, xy = 2: slope 1, residuals -1/3, 2/3, -1/3 with squares 2/3, one
  // degree of freedom: error sqrt(2/3 / 1 / 2).
  const LineFit fit = fit_line({0.0, 1.0, 2.0}, {0.0, 2.0, 2.0});
  CHECK(std::abs(fit.slope - 1.0) < 1e-15);
  CHECK(std::abs(fit.intercept - 1.0 / 3.0) < 1e-15);
  CHECK(std::abs(fit.slope_error - std::sqrt(1.0 / 3.0)) < 1e-15);
}

TEST_CASE("fit_line: the slope is as accurate far from the origin") {
  const LineFit fit = fit_line({1e6, 1e6 + 1.0, 1e6 + 2.0}, {0.0, 2.0, 2.0});
  CHECK(std::abs(fit.slope - 1.0) < 1e-9);
}

TEST_CASE("fit_line: points that are not finite are left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LineFit fit = fit_line({0.0, 1.0, nan, 2.0, -kInfinity}, {0.0, 2.0, 7.0, 4.0, 1.0});
  CHECK(std::abs(fit.slope - 2.0) < 1e-14);
}

TEST_CASE("fit_line: what too few points cannot tell is NaN or infinite") {
  CHECK(std::isnan(fit_line({}, {}).slope));
  CHECK(std::isnan(fit_line({1.0, 1.0}, {0.0, 3.0}).slope));
  const LineFit two = fit_line({1.0, 3.0}, {0.0, 3.0});
  CHECK(std::abs(two.slope - 1.5) < 1e-15);
  CHECK(two.slope_error == kInfinity);
  CHECK_THROWS_AS(fit_line({1.0}, {}), std::invalid_argument);
}
