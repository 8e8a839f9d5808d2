#pragma once

#include <cstdint>

// Expectations over Gaussian weights that the mean-field theory is made of (docs/theory.md).
namespace normlab {

// Of two standard normal numbers a, b of correlation c in [-1, 1], as a ReLU sees them (the
// arc-cosine kernels of Cho and Saul 2009, scaled to 1 at c = 1). A c that rounding put outside of
// the interval counts as its end.
double relu_gate_kernel(double c);   // P(a > 0 and b > 0) / P(a > 0)
double relu_value_kernel(double c);  // E[relu(a) relu(b)] / E[relu(a)^2]

// E[softmax(z) . softmax(z')] of two vectors of logits, normal with the given variance and
// correlation in [0, 1] per class and independent between classes: 1 / classes at correlation 0,
// the expected sum of squared probabilities at 1. By quadrature; relative error below 1e-8 for
// variances up to 2, the largest of Xavier's (the tests compare with closed cases).
double softmax_overlap(double correlation, double variance, std::int64_t classes);

}  // namespace normlab
