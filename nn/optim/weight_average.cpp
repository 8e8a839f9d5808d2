// Tested by tests/nn/optim/weight_average_test.cpp.
#include "nn/optim/weight_average.hpp"

#include <utility>

#include "core/check.hpp"

namespace normlab {

WeightAverage::WeightAverage(std::vector<Parameter*> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  check_probability("WeightAverage", "decay", decay);
  for (const Parameter* parameter : parameters_) averages_.push_back(parameter->value);
}

void WeightAverage::update() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const double* weights = parameters_[i]->value.data();
    double* averages = averages_[i].mutable_data();
    for (std::int64_t j = 0; j < averages_[i].numel(); ++j) {
      averages[j] = decay_ * averages[j] + (1.0 - decay_) * weights[j];
    }
  }
}

void WeightAverage::swap() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::swap(parameters_[i]->value, averages_[i]);
  }
}

NamedTensors WeightAverage::state() const {
  NamedTensors all;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    all.emplace_back(parameters_[i]->name, averages_[i]);
  }
  return all;
}

void WeightAverage::load_state(const NamedTensors& state) {
  check(state.size() == parameters_.size(), "WeightAverage::load_state", "state",
        "must hold one tensor per parameter", [&] { return std::to_string(state.size()); });
  std::vector<Tensor> loaded;
  for (const Parameter* parameter : parameters_) {
    const Tensor* found = find_tensor(state, parameter->name);
    check(found != nullptr, "WeightAverage::load_state", "state", "must hold " + parameter->name,
          "none");
    check_shape("WeightAverage::load_state", parameter->name, found->shape(),
                parameter->value.shape());
    loaded.push_back(*found);
  }
  averages_ = std::move(loaded);
}

}  // namespace normlab
