// Tested by tests/experiments/lab/stats/statistics_test.cpp.
#include "experiments/lab/stats/statistics.hpp"

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

Estimate estimate(const std::vector<double>& values) {
  check(!values.empty(), "estimate", "values", "must be at least one", "none");
  const auto n = static_cast<double>(values.size());
  double mean = 0.0, squares = 0.0;
  for (double value : values) mean += value / n;
  for (double value : values) squares += (value - mean) * (value - mean);
  if (values.size() == 1) return {mean, std::numeric_limits<double>::infinity()};
  return {mean, std::sqrt(squares / (n - 1.0) / n)};
}

Estimate root_mean(const std::vector<double>& squares) {
  const Estimate of_squares = estimate(squares);
  const double root = std::sqrt(of_squares.mean);
  return {root, of_squares.error / (2.0 * root)};
}

}  // namespace normlab
