#pragma once

#include <cstdint>

namespace normlab {

// The standard normal distribution at many numbers at once: cdf[i] = Phi(x[i]) and
// density[i] = phi(x[i]) = e^(-x^2/2) / sqrt(2 pi), for n numbers.
//
// Relative error below 3e-14, also in the lower tail, where 0.5 (1 + erf) has lost its digits. For
// |x| >= 9 - 1/64 returns exactly 0 or 1 and density 0 (off by at most 1e-17). NaN is not
// propagated; it is treated as 9.
void normal_distribution(const double* x, double* cdf, double* density, std::int64_t n);

}  // namespace normlab
