#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/module.hpp"
#include "nn/named_tensors.hpp"
#include "nn/optim/update_rules.hpp"

namespace normlab {

// Parameters that share their hyperparameters, as in torch.optim.
struct ParameterGroup {
  std::vector<Parameter*> parameters;
  std::optional<double> weight_decay{};  // none: the rule's
  double lr_factor = 1.0;                // times the step's learning rate
};

// Two groups: what is decayed, and what is not (weight_decay 0). Parameters of rank 0 and 1 are
// not: the norms' weights, every bias, gates and scales. Decay pulls a weight matrix towards the
// zero function; a norm's weight it would pull away from the 1 at which the layer does what it is
// for.
std::vector<ParameterGroup> groups_without_decay_on_norms(Module& model);

// Changes parameters by their gradients, one rule for all.
//
//   Optimizer optimizer(model.parameters(), AdamW{});
//   for (step = 1; ...; ++step) {
//     model.zero_grad();
//     for each micro-batch: tape.backward(loss, share);   // gradients add up
//     clip_grad_norm(model.parameters(), 1.0);
//     optimizer.step(schedule.at(step));
//   }
//
// Micro-batches: `backward` adds, so that a step may follow any number of passes. Its gradient is
// that of the mean over all examples only if each pass counts for its share: the mean loss of a
// micro-batch of m out of n examples is seeded with m / n. Passes seeded with 1 / (their number)
// weigh the examples of a small micro-batch more.
class Optimizer {
 public:
  // Throws std::invalid_argument for options out of range, and for a parameter that is there twice
  // or whose name is. The parameters must outlive the optimizer.
  Optimizer(std::vector<ParameterGroup> groups, UpdateRule rule);
  Optimizer(std::vector<Parameter*> parameters, UpdateRule rule)
      : Optimizer(std::vector<ParameterGroup>{{std::move(parameters)}}, std::move(rule)) {}

  // One update of every parameter that has a gradient. Those without stay as they are, and so does
  // their count of steps. Gradients are left as they are.
  void step(double lr);

  // What the rule remembers, named "<parameter>.exp_avg" and so on with PyTorch's names. A state
  // that is loaded into an optimizer of the same parameters and rule continues bit for bit.
  NamedTensors state() const;
  // Throws std::invalid_argument, and changes nothing, if the state is not one of this optimizer.
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
