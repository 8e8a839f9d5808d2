#pragma once

#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/lab/stats/statistics.hpp"

namespace normlab {

// The network of the table over layers.
inline GradientCell profile_cell(const InitGradientsResult& result, Placement placement) {
  return {result.options.profile_layers, placement, 0, result.options.scales.front().value};
}

// number(measurement) of the cell, once per seed of the options; cell.seed is ignored.
template <typename F>
std::vector<double> over_seeds(const InitGradientsResult& result, GradientCell cell, F number) {
  std::vector<double> numbers;
  for (std::uint64_t seed : result.options.seeds) {
    cell.seed = seed;
    numbers.push_back(number(result.measurement(cell)));
  }
  return numbers;
}

}  // namespace normlab
