#pragma once

#include "experiments/lemmas/lemmas.hpp"

// A claim and the numbers behind it, as text and report show them.
namespace normlab {

std::string measured_text(const Claim& claim);
std::string claimed_text(const Claim& claim);
std::string verdict_text(const Claim& claim);

// The last W2's gradient at one depth or width: norms of the seeds, their root mean square, theory.
struct LastGradient {
  double theory;
  Estimate simulated;
  std::vector<double> seeds;
};
LastGradient last_gradient_at(const LemmaResult& result, Placement placement, bool in_depth,
                              std::int64_t value);

}  // namespace normlab
