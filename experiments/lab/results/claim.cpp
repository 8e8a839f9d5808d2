// Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include "experiments/lab/results/claim.hpp"

#include <algorithm>
#include <cmath>

namespace normlab::lab {

double Claim::miss() const {
  if (std::isnan(measured.mean)) return measured.mean;
  return std::max({0.0, low - measured.mean, measured.mean - high});
}

bool Claim::holds() const { return miss() <= margin + 4.0 * measured.error; }

bool proved_claims_hold(const std::vector<Claim>& claims) {
  return std::all_of(claims.begin(), claims.end(),
                     [](const Claim& claim) { return !claim.must_hold || claim.holds(); });
}

}  // namespace normlab::lab
