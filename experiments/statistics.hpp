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

}  // namespace normlab
