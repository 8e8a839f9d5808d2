#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/tape.hpp"

// Is a backward rule right? Its gradients are held against central differences of the forward.
//
// The function's result is reduced to a number by L = <f(x), r> with a fixed random r. The sum or
// the mean would blind the check: rows of a softmax sum to 1 and rows of a LayerNorm to 0, so that
// their L would be constant and a backward that returns 0 would pass.
//
// A gradient passes when  |analytic - numerical| <= tolerance * max(|analytic|, |numerical|)  in
// the norm of the whole tensor. There is no absolute escape for small gradients; a gradient that is
// zero fails unless the caller expects it. Inputs must stay clear of kinks by more than the step;
// for an element that fails at a kink, where differences mean nothing, the report says so.
namespace normlab {

struct GradcheckOptions {
  double tolerance = 1e-7;
  double step = 6.055454452393343e-06;  // cbrt(machine epsilon), times max(1, |x|)
  std::uint64_t seed = 7;               // of r
  // Indices of inputs whose gradient must be zero (a key bias, say: softmax ignores shifts). Such a
  // gradient passes when it is below `tolerance` times the largest norm among the other inputs, or
  // when both sides are exactly 0.
  std::vector<std::size_t> expect_zero{};
};

struct GradcheckResult {
  bool passed = true;
  double worst_relative_error = 0.0;  // infinite for NaN, and for a zero that was not expected
  std::string report;  // one line per input: relative error, worst element, both values there
};

// f computes its result from the given inputs, one Var each, on their tape; it must be
// deterministic.
using Function = std::function<Var(const std::vector<Var>& inputs)>;
GradcheckResult check_gradients(const Function& f, const std::vector<Tensor>& inputs,
                                const GradcheckOptions& options = {});

// The same for parameters of a module: f computes on the tape it is given and watches them itself.
GradcheckResult check_parameter_gradients(const std::function<Var(Tape&)>& f,
                                          const std::vector<Parameter*>& parameters,
                                          const GradcheckOptions& options = {});

// A second opinion that needs no step size: moving along a random direction v by h, the remainder
// L(x + h v) - L(x) - h <gradient, v> shrinks like h^2 if the gradient is right and like h if it is
// not. Returns the fitted order, near 2 or near 1. Throws std::invalid_argument if the inputs lie
// at a kink, where the order would be 1 for any rule. For a linear f the remainder is rounding
// noise and its order means nothing.
double taylor_remainder_order(const Function& f, const std::vector<Tensor>& inputs,
                              std::uint64_t seed = 7);

}  // namespace normlab
