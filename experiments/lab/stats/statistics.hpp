#pragma once

#include <vector>

namespace normlab {

// The middle value; the mean of the two middle ones for an even count, as NumPy's median. At least
// one value. One NaN makes the result NaN, here and in spread: it has no place in an order.
double median(std::vector<double> values);

struct Spread {
  double median, smallest, largest;
};
Spread spread(const std::vector<double>& values);

// A mean and its standard error, which one value says nothing about: infinite.
struct Estimate {
  double mean, error;
};
Estimate estimate(const std::vector<double>& values);
// The root of the mean of squares, given the squares; its error is that of the mean, to first
// order.
Estimate root_mean(const std::vector<double>& squares);

}  // namespace normlab
