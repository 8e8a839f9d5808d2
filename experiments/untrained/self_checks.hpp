#pragma once

#include <string>

#include "experiments/untrained/encoder_model.hpp"

namespace normlab {

// Checks that an experiment makes of its own tools before its numbers may be believed.

// C1: is the gradient the derivative of the loss? The largest entry of dLoss/dW2 of one layer
// against a central difference (seed 0) with a step of 1e-6. If that fails, a step of 1e-7
// and the next two entries are tried.
struct FiniteDifferenceCheck {
  Placement placement;
  std::int64_t layer;  // from 1
  double analytic = 0.0, numerical = 0.0;
  double loss = 0.0;  // near which the difference was taken
  double step = 1e-6;

  double relative_error() const;
  // Below 1e-7, or the difference is what rounding of the two losses makes of the quotient, so that
  // the check cannot tell.
  bool passed() const;
};
// Of the first and the last layer of a stack.
std::vector<FiniteDifferenceCheck> check_finite_differences(const EncoderModel::Config& config,
                                                            Placement placement,
                                                            std::int64_t layers,
                                                            const Tokens& tokens);

// C2: largest |RMSNorm - LayerNorm| (both with eps 1e-5) over the embedded tokens, with each
// token's mean removed, where the two are the same function, and as they are, where they are not.
struct NormAgreement {
  double centred, uncentred;

  bool passed() const;
};
NormAgreement check_norm_agreement(const EncoderModel::Config& config, const Tokens& tokens);

}  // namespace normlab
