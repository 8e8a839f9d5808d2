#pragma once

#include <vector>

#include "experiments/lab/training/replicas.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/optim/learning_rate.hpp"
#include "nn/optim/optimizer.hpp"

namespace normlab {

// A training run, step by step.
//
// A batch goes through the model in slices, each through a copy of its own (Replicas). Random
// numbers come from generators for the weights, the order of the examples and the copies' dropout,
// all seeded from the options' seed.
class Trainer {
 public:
  Trainer(TrainingTask task, const TrainingOptions& options, int threads);

  struct Step {
    double loss, accuracy, grad_norm;  // of the batch, before the update; the norm before clipping
  };
  // One update, unless the run has diverged; the weights are then those before.
  Step step();
  // Its two halves, so that the gradients can be looked at in between. Each gradient counts in the
  // epoch's record and draws random numbers: one update for each, unless the run has diverged.
  Step compute_gradients();
  void update();
  const std::optional<Divergence>& diverged() const { return diverged_; }

  std::int64_t steps_done() const { return step_; }
  std::int64_t steps() const { return options_.epochs * steps_per_epoch_; }
  bool at_end_of_epoch() const { return step_ % steps_per_epoch_ == 0; }
  // After the last step of an epoch: tests the model and adds to the records, unless the test says
  // that the run has diverged.
  void end_epoch();
  const std::vector<EpochRecord>& epochs() const { return epochs_; }

  Module& model() { return replicas_.model(); }
  double rate_of_last_step() const { return schedule_.at(step_); }
  std::int64_t tokens_of_last_step() const { return tokens_of_last_step_; }

  // All that the run needs to go on: model, optimizer, generators, records and the place in the
  // epoch. A trainer of the same task and options that is given it continues bit for bit.
  Safetensors checkpoint();
  void restore(const Safetensors& checkpoint, const std::string& source);

 private:
  struct Sums {
    double loss = 0.0, correct = 0.0, grad_norm = 0.0;
  };
  struct SliceResult {
    double loss = 0.0;  // a sum
    std::int64_t correct = 0;
  };
  using Positions = std::vector<std::int64_t>;
  std::int64_t slices_of(std::int64_t examples) const;
  void start_epoch();
  Positions batch() const;
  SliceResult pass_slice(Module& model, TrainingTask::Part part, const Positions& positions,
                         std::size_t slice, const std::function<void(const Var& loss)>& then,
                         bool anomaly) const;
  static SliceResult sum_of(const std::vector<SliceResult>& results);
  SliceResult backward(const Positions& positions, bool anomaly);
  std::string find_origin(const Positions& positions,
                          const std::vector<Generator>& generators_before);
  std::vector<Generator*> dropout_generators();
  void read_place(const Safetensors& checkpoint, const std::string& source);

  TrainingTask task_;
  TrainingOptions options_;
  LearningRate schedule_;
  Replicas replicas_;
  Optimizer optimizer_;
  Generator order_generator_;
  Tensor order_state_;  // of the generator, before it drew this epoch's order
  Positions order_;     // of the training examples in this epoch
  std::int64_t steps_per_epoch_, step_ = 0, tokens_of_last_step_ = 0;
  Sums epoch_sums_;
  std::vector<EpochRecord> epochs_;
  std::optional<Divergence> diverged_;
};

}  // namespace normlab
