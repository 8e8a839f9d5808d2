#pragma once

#include <string>
#include <vector>

#include "nn/norms/norm_registry.hpp"

// Is a normalization layer what its registry entry says? All checks that make sense for every norm
// are here, so a new norm is tested by registering it.
//
//   gradients    of the input and of every parameter, at random parameter values, against central
//                differences, for widths 1, 3, odd, even and large and several N and T
//   invariances  declared properties (NormProperties) hold, undeclared ones do not
//   edge cases   constant, zero, huge and tiny tokens, and a common offset: values and gradients
//   are
//                finite, and right where an invariance says what is right; a NaN reaches only the
//                elements that the declared independences allow
//   modes        a second forward repeats the first, in train and in eval mode; the two modes agree
//                unless running statistics are declared
//   reference    the reference implementation has the same values and gradients
//   module       shapes, an empty batch, names, the number of parameters, a gradient for each
namespace normlab {

struct CheckResult {
  std::string property;  // "gradient of weight"
  std::string input;     // "(2, 4, 7), eps 0.1"; a shape is (N, T, d)
  bool passed = false;
  std::string measured;  // "relative error 3.1e-10, at most 1e-07"

  std::string line() const;
};

// One result per property and input. A check that throws gives a failed result with the error's
// text.
std::vector<CheckResult> check_norm(const NormEntry& entry);

// The lines of the failed results, or nothing.
std::string failures(const std::vector<CheckResult>& results);

struct MeasuredInvariance {
  std::string name;  // "positive scale"
  bool declared;
  // |f(changed x) - expected| / |expected| in the norm of the whole output, the largest over the
  // inputs of check_norm. Near 1e-16 where it holds; up to the effect of eps for positive scale.
  double violation;
};

// The invariances of NormProperties, in its order.
std::vector<MeasuredInvariance> measure_invariances(const NormEntry& entry);

}  // namespace normlab
