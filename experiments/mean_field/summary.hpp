#pragma once

#include <functional>

#include "experiments/lab/stats/statistics.hpp"
#include "experiments/mean_field/mean_field.hpp"

// Theory and the seeds' statistics at one layer, as text, report and figures show them.
namespace normlab {

struct WeightName {
  const char* name;  // as in the paper
  std::vector<double> SquaredNorms::*list;
};
inline constexpr WeightName kWeights[] = {
    {"W1", &SquaredNorms::w1}, {"W2", &SquaredNorms::w2}, {"WV", &SquaredNorms::wv}};

// A number of the moments behind the ffn of a block.
struct MomentName {
  const char* name;
  double (*of)(const PairMoments&);
};
inline constexpr MomentName kMoments[] = {
    {"|x|^2/d", [](const PairMoments& m) { return m.same; }},
    {"within", [](const PairMoments& m) { return m.correlation_within(); }},
    {"across", [](const PairMoments& m) { return m.correlation_across(); }}};

// number(measurement) of each seed.
std::vector<double> over_seeds(const PlacementComparison& comparison,
                               const std::function<double(const MeanFieldMeasurement&)>& number);

struct LayerComparison {
  double theory;
  Estimate simulated;  // over seeds
};
LayerComparison moment_at(const PlacementComparison& comparison, const MomentName& moment,
                          std::size_t block);

// Norms, not squares: theory and seeds by the root of the mean of squares, which is what the theory
// predicts; and the mean over seeds of measured norm / norm expected from the measured output
// gradient.
struct GradientComparison {
  double theory;
  Estimate simulated;
  Estimate ratio_from_measured;
};
GradientComparison gradient_at(const PlacementComparison& comparison, const WeightName& weight,
                               std::size_t block);

}  // namespace normlab
