// Tested by tests/experiments/statistics_test.cpp.
#include "experiments/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace normlab {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool any_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

double median(std::vector<double> values) {
  check(!values.empty(), "median", "values", "must be at least one", "none");
  if (any_nan(values)) return kNaN;
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  return values.size() % 2 == 1 ? values[upper] : 0.5 * (values[upper - 1] + values[upper]);
}

Spread spread(const std::vector<double>& values) {
  if (any_nan(values)) return {kNaN, kNaN, kNaN};
  return {median(values), *std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

}  // namespace normlab
