#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normlab {

// How the rate falls after the warmup.
enum class Decay { constant, linear, cosine, inverse_sqrt, step };
// "constant", "linear", "cosine", "inverse-sqrt", "step"; throws std::invalid_argument for another.
const std::string& name(Decay decay);
Decay decay_of(const std::string& name);
std::vector<std::string> decay_names();

// The learning rate as a pure function of the step; to resume, nothing has to be saved.
//
// Steps count from 1, the first update. With w = max(warmup, 1):
//
//   step <= w       peak * step / w: never 0, strictly increasing, the peak at step w
//   constant        peak
//   linear          peak * (1 - p),  p = (step - w) / (total - w + 1), at most 1
//   cosine          peak * (1 + cos(pi p)) / 2
//   inverse_sqrt    peak * sqrt(w / step), the rule of Vaswani et al. (2017):
//                   d^(-1/2) min(step^(-1/2), step w^(-3/2)) is the one with peak (d w)^(-1/2)
//   step            peak * factor^k, k = (step - w) / every rounded down
//
// A warmup of 0 or 1 is none: the first step already has the peak. linear and cosine reach 0 one
// step after the last one, so no step has a rate of 0.
struct LearningRate {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  Decay decay = Decay::constant;
  std::int64_t total = 0;  // linear, cosine: the number of steps; at least the warmup
  std::int64_t every = 1;  // step
  double factor = 0.1;     // step

  // Throws std::invalid_argument for a step below 1 and for fields out of range.
  double at(std::int64_t step) const;
};

}  // namespace normlab
