#pragma once

#include <vector>

#include "core/parameter.hpp"
#include "nn/named_tensors.hpp"

namespace normlab {

// An exponential moving average of the weights, a <- decay * a + (1 - decay) * w after every step.
// It often evaluates better than the last weights. Starts as a copy of the weights. The parameters
// must outlive it.
class WeightAverage {
 public:
  // Throws std::invalid_argument unless decay is in [0, 1].
  WeightAverage(std::vector<Parameter*> parameters, double decay);

  void update();
  // Exchanges the weights and their averages: call it before and after an evaluation.
  void swap();

  // The averages, under the parameters' names. Between two calls of swap these are the weights.
  NamedTensors state() const;
  // Throws std::invalid_argument, and changes nothing, if names or shapes differ.
  void load_state(const NamedTensors& state);

 private:
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> averages_;
  double decay_;
};

}  // namespace normlab
