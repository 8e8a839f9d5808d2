#pragma once

#include "experiments/lab/stats/statistics.hpp"
#include "experiments/mean_field/mean_field.hpp"

// Theory and the seeds' statistics at one layer, as tables and figures show them.
namespace normlab::mean_field {

struct Weight {
  const char* key;
  const char* title;  // as in the paper
  std::vector<double> SquaredNorms::*squares;
};
inline constexpr Weight kWeights[] = {{"w1", "W1", &SquaredNorms::w1},
                                      {"w2", "W2", &SquaredNorms::w2},
                                      {"wv", "WV", &SquaredNorms::wv}};

// A number of the moments after the ffn of a block.
struct Moment {
  const char* key;
  const char* title;
  double (*value)(const PairMoments&);
};
inline constexpr Moment kMoments[] = {
    {"size", "|x|^2/d", [](const PairMoments& m) { return m.same; }},
    {"correlation_within", "within", [](const PairMoments& m) { return m.correlation_within(); }},
    {"correlation_across", "across", [](const PairMoments& m) { return m.correlation_across(); }}};

struct LayerMoment {
  double theory;
  Estimate simulated;  // over seeds
};
LayerMoment layer_moment(const Comparison& comparison, const Moment& moment, std::size_t block);

// Norms, not squares: theory and seeds by the root of the mean of squares, which is what the theory
// predicts; and the mean over seeds of measured norm / norm expected from the measured output
// gradient.
struct LayerGradient {
  double theory;
  Estimate simulated;
  Estimate ratio_from_measured;
};
LayerGradient layer_gradient(const Comparison& comparison, const Weight& weight, std::size_t block);

}  // namespace normlab::mean_field
