#pragma once

#include <string>
#include <vector>

#include "nn/norms/norm_registry.hpp"

// Is a normalization layer what its registry entry says? Everything that can be asked of any norm
// is asked here, so that a new one is tested by registering it.
//
//   gradients    of the input and of every parameter, at random parameter values, against central
//                differences, for widths 1, 3, odd, even and large and several N and T
//   invariances  the promises of NormProperties hold, and those that are not made do not
//   hard rows    constant, zero, huge, tiny, with a common offset: finite values and gradients, and
//                right ones where an invariance says what is right; a NaN reaches only those
//                elements that the declared independences let it reach
//   two modes    one forward repeats the next, in train and in evaluation mode; the modes agree
//                unless running statistics are declared. A norm that keeps them normalizes by its
//                batch alone in train mode, so that it, too, repeats itself there.
//   composed     the same function in primitive ops has the same values and gradients
//   module       shapes, an empty batch, names, the number of parameters, a gradient for each
namespace normlab {

struct Finding {
  std::string property;  // "gradient of weight"
  std::string input;     // "(2, 4, 7), eps 0.1"; a shape is (N, T, d)
  bool passed = false;
  std::string measured;  // "relative error 3.1e-10, at most 1e-07"

  std::string line() const;
};

// One finding per property and input. A check that throws is a finding that has failed, with the
// error's text.
std::vector<Finding> check_norm(const NormEntry& entry);

// The lines of the failed findings; empty if there is none.
std::string failures(const std::vector<Finding>& findings);

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
