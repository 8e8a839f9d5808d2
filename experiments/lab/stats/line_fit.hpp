#pragma once

#include <vector>

namespace normlab {

// The least-squares line y = intercept + slope x.
struct LineFit {
  double slope, intercept;
  // Standard error of the slope, from the scatter about the line; infinite below three points,
  // which scatter about no line.
  double slope_error;
};
// Points that are not finite are left out. NaN slope for fewer than two different x. Throws
// std::invalid_argument for lists of two lengths.
LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace normlab
