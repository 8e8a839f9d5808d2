#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/module.hpp"
#include "nn/named_tensors.hpp"
#include "nn/optim/update_rules.hpp"

namespace normlab {

// Parameters that share their options, as in torch.optim.
struct ParameterGroup {
  std::vector<Parameter*> parameters{};
  std::optional<double> weight_decay{};  // not set: the rule's
};

// Two groups: the model's decayed_parameters(), and all others with weight_decay 0. Decay pulls a
// weight matrix towards the zero function; it would pull a norm's weight away from its neutral
// value 1, and means nothing for biases, gates and scales.
std::vector<ParameterGroup> groups_without_decay_on_norms(Module& model);

// Changes parameters by their gradients, one rule for all.
//
//   Optimizer optimizer(model.parameters(), AdamW{});
//   for (step = 1; ...; ++step) {
//     model.zero_grad();
//     for each micro-batch: tape.backward(loss, share);   // gradients add up
//     if (!std::isfinite(clip_grad_norm(model.parameters(), 1.0))) stop;
//     optimizer.step(schedule.at(step));
//   }
//
// Micro-batches: `backward` adds, so any number of passes may come before a step. The gradient is
// that of the mean over all examples only if each pass counts for its share: the mean loss of a
// micro-batch of m out of n examples is seeded with m / n. Passes seeded with 1 / (number of
// passes) would give the examples of a small micro-batch more weight.
class Optimizer {
 public:
  // Throws std::invalid_argument for options out of range, for a null pointer, and for a parameter
  // or name that occurs twice. The parameters must outlive the optimizer.
  Optimizer(std::vector<ParameterGroup> groups, UpdateRule rule);
  Optimizer(std::vector<Parameter*> parameters, UpdateRule rule)
      : Optimizer(std::vector<ParameterGroup>{{std::move(parameters)}}, std::move(rule)) {}

  // One update of every parameter that has a gradient. The others stay as they are, and their steps
  // are not counted. Gradients are not changed. Throws std::invalid_argument, and changes nothing,
  // for a negative rate, and for a gradient with another shape than its parameter, a NaN or an
  // infinity.
  void step(double lr);

  // What the rule stores, under PyTorch's names: "<parameter>.step", "<parameter>.exp_avg", ... An
  // optimizer with the same parameters and rule that loads the state continues bit for bit.
  NamedTensors state() const;
  // Throws std::invalid_argument, and changes nothing, if names or shapes are not those of this
  // optimizer, a value is NaN or infinite, or an average of squares is negative.
  void load_state(const NamedTensors& state);

  const std::vector<ParameterGroup>& groups() const { return groups_; }

 private:
  struct Slot {
    Parameter* parameter;
    std::size_t group;
    Moments moments{};
  };

  std::vector<ParameterGroup> groups_;
  std::vector<UpdateRule> rules_;  // one per group
  std::vector<Slot> slots_;
};

}  // namespace normlab
