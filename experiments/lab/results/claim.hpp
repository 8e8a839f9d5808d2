#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/lab/results/table.hpp"

namespace normlab::lab {

// A statement with a number in it, what was measured, and a verdict that can go either way.
struct Claim {
  std::string title{}, statement{};
  Estimate measured{};           // with its standard error
  double low = 0.0, high = 0.0;  // what the statement allows; equal for one value
  // How far a finite network may be off a statement about expectations or about wide ones.
  double margin = 0.0;
  bool must_hold = false;  // proved in this setting, so that a miss is a fault of the program
  double theory = std::numeric_limits<double>::quiet_NaN();  // the predicted value, if there is one

  double miss() const;  // how far the measured value is outside; 0 inside
  bool holds() const;   // inside, up to four standard errors and the margin
};

// All claims that must hold do.
bool proved_claims_hold(const std::vector<Claim>& claims);

// A row for each claim, under the key "claims".
Table claims_table(const std::vector<Claim>& claims);

// "holds, 0.0003 off".
std::string verdict(const Claim& claim);

}  // namespace normlab::lab
