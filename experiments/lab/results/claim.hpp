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
  // The largest standard error with which a value at the edge of what is allowed is a verdict; the
  // margin where that is larger.
  double resolution = 0.0;
  bool must_hold = false;  // proved in this setting, so that a miss is a fault of the program
  double theory = std::numeric_limits<double>::quiet_NaN();  // the predicted value, if there is one

  double miss() const;  // how far the measured value is outside; 0 inside
  // Outside by more than the margin and four standard errors.
  bool fails() const;
  // Does not fail, and that says something: all of four standard errors to either side is allowed,
  // or the error is small. A claim that neither holds nor fails is undecided.
  bool holds() const;
};

// No claim that must hold fails.
bool proved_claims_hold(const std::vector<Claim>& claims);

// A row for each claim, under the key "claims".
Table claims_table(const std::vector<Claim>& claims);

// "holds, 0.0003 off", or "undecided: more seeds".
std::string verdict(const Claim& claim);

}  // namespace normlab::lab
