// Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include "experiments/mean_field/layer_moments.hpp"

#include <cmath>

namespace normlab::mean_field {

LayerMoment layer_moment(const Comparison& comparison, const Moment& moment, std::size_t block) {
  std::vector<double> simulated;
  for (const MeanFieldMeasurement& seed : comparison.measured) {
    simulated.push_back(moment.value(seed.blocks[block].after_ffn));
  }
  return {moment.value(comparison.blocks[block].after_ffn), estimate(simulated)};
}

LayerGradient layer_gradient(const Comparison& comparison, const Weight& weight,
                             std::size_t block) {
  std::vector<double> squares, ratios;
  for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
    const double measured = (comparison.measured[seed].gradients.*weight.squares)[block];
    const double expected = (comparison.expected_from_measured[seed].*weight.squares)[block];
    squares.push_back(measured);
    ratios.push_back(std::sqrt(measured / expected));
  }
  return {std::sqrt((comparison.expected.*weight.squares)[block]), root_mean(squares),
          estimate(ratios)};
}

}  // namespace normlab::mean_field
