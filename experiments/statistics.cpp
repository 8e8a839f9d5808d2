// Tested by tests/experiments/statistics_test.cpp.
#include "experiments/statistics.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace normlab {

double median(std::vector<double> values) {
  check(!values.empty(), "median", "values", "must be at least one", "none");
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2;
  return values.size() % 2 == 1 ? values[upper] : 0.5 * (values[upper - 1] + values[upper]);
}

Spread spread(const std::vector<double>& values) {
  return {median(values), *std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

}  // namespace normlab
