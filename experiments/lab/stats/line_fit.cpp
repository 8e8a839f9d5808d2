// Tested by tests/experiments/lab/stats/line_fit_test.cpp.
#include "experiments/lab/stats/line_fit.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"

namespace normlab {

LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  check(x.size() == y.size(), "fit_line", "y", "must be as many numbers as x",
        [&] { return std::to_string(y.size()); });
  std::vector<double> xs, ys;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    xs.push_back(x[i]);
    ys.push_back(y[i]);
  }
  const auto n = static_cast<double>(xs.size());
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    mean_x += xs[i] / n;
    mean_y += ys[i] / n;
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    xx += (xs[i] - mean_x) * (xs[i] - mean_x);
    xy += (xs[i] - mean_x) * (ys[i] - mean_y);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (xs.size() < 2 || xx == 0.0) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN, kInfinity};
  }
  LineFit fit{xy / xx, mean_y - xy / xx * mean_x, kInfinity};
  if (xs.size() < 3) return fit;
  double residual = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double miss = ys[i] - fit.intercept - fit.slope * xs[i];
    residual += miss * miss;
  }
  fit.slope_error = std::sqrt(residual / (n - 2.0) / xx);
  return fit;
}

}  // namespace normlab
