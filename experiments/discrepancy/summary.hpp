#pragma once

#include <vector>

#include "experiments/discrepancy/discrepancy.hpp"
#include "experiments/lab/stats/statistics.hpp"

namespace normlab::discrepancy {

// exp of a mean of logarithms, its error carried over.
Estimate geometric(const std::vector<double>& values);

// One ablation and placement over seeds. A change is against the ablation's base, seed by seed:
// equal seeds mean equal weights where the shapes are equal, and what they share drops out. NaN
// where there is no base, or the run does not have it.
struct Summary {
  Ablation ablation;
  Placement placement;
  std::vector<Estimate> last_norm;  // of W2's gradient in the last layer, per depth: geometric mean
  // Slope of log(last norm) in log(depth), fitted for each seed.
  Estimate exponent, exponent_change;
  // Last layer's norm / first layer's at the profile's depth, geometric mean; and that ratio
  // divided by the base's.
  Estimate top_bottom, top_bottom_factor;
  // Of the deepest networks' last layer: shares of the mean squared gradient, and the similarity of
  // the tokens that the last block reads.
  double self, same_sequence, across_sequences;
  double similarity_within, similarity_across;
};

// All ablations in post-norm, then all in pre-norm.
std::vector<Summary> summaries(const Measured& result);

// number(measurement) of one ablation, placement and depth, once per seed of the ablation.
template <typename F>
std::vector<double> over_seeds(const Measured& result, const Ablation& ablation,
                               Placement placement, std::int64_t layers, F number) {
  std::vector<double> numbers;
  for (const std::uint64_t seed : result.options.seeds_of(ablation)) {
    numbers.push_back(number(result.measurement({ablation.name, placement, layers, seed})));
  }
  return numbers;
}

}  // namespace normlab::discrepancy
