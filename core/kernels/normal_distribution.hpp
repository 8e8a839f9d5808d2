#pragma once

#include <cstdint>

namespace normlab {

// The standard normal distribution at many numbers at once: cdf[i] = Phi(x[i]) and
// density[i] = phi(x[i]) = e^(-x^2/2) / sqrt(2 pi), for n numbers.
//
// Relative error below 3e-14, in the lower tail too, where 0.5 (1 + erf) has lost its digits. From
// |x| = 9 on, less 1/64, Phi is 0 or 1 and phi is 0, of which the true ones are within 1e-17. A
// NaN is taken for 9: who needs it to stay one multiplies by x.
void normal_distribution(const double* x, double* cdf, double* density, std::int64_t n);

}  // namespace normlab
