#pragma once

#include <vector>

#include "experiments/replicas.hpp"
#include "experiments/train_digits.hpp"
#include "nn/optim/optimizer.hpp"

namespace normlab {

// A training run of train_digits, step by step.
//
// A batch goes through the model in slices of 16 images, each through a copy of its own (Replicas).
// Random numbers come from four generators, for the weights, the order of the images and the
// copies' dropout, all seeded from the options' seed; the split has its own.
class DigitsTrainer {
 public:
  DigitsTrainer(const TrainDigitsOptions& options, const Digits& digits, int threads);

  struct Step {
    double loss, accuracy, grad_norm;  // of the batch, before the update
  };
  // One update, unless the run has diverged; the weights are then those before.
  Step step();
  const std::optional<Divergence>& diverged() const { return diverged_; }

  std::int64_t steps_done() const { return step_; }
  std::int64_t steps() const { return options_.epochs * steps_per_epoch_; }
  bool at_end_of_epoch() const { return step_ % steps_per_epoch_ == 0; }
  // After the last step of an epoch: tests the model and adds to the records.
  void end_epoch();
  const std::vector<EpochRecord>& epochs() const { return epochs_; }

  std::int64_t images_per_step() const;

  // All that the run needs to go on: model, optimizer, generators, records and the place in the
  // epoch. A trainer of the same options that is given it continues bit for bit.
  Safetensors checkpoint();
  void restore(const Safetensors& checkpoint, const std::string& source);

 private:
  struct Sums {
    double loss = 0.0, correct = 0.0, grad_norm = 0.0;
  };
  // Of each slice of `positions`.
  struct SliceResult {
    double loss = 0.0;  // a sum
    std::int64_t correct = 0;
  };
  void start_epoch();
  std::vector<std::int64_t> batch() const;
  SliceResult forward_slice(Module& model, const Digits& from,
                            const std::vector<std::int64_t>& positions, std::size_t slice,
                            const std::function<void(const Var& loss)>& then, bool anomaly) const;
  static SliceResult sum_of(const std::vector<SliceResult>& results);
  SliceResult backward(const std::vector<std::int64_t>& positions);
  std::string find_origin(const std::vector<std::int64_t>& positions,
                          const std::vector<Generator>& generators_before);
  std::vector<Generator*> dropout_generators();

  TrainDigitsOptions options_;
  DigitsSplit data_;
  LearningRate schedule_;
  Replicas replicas_;
  Optimizer optimizer_;
  Generator order_generator_;
  Tensor order_state_;               // of the generator, before it drew this epoch's order
  std::vector<std::int64_t> order_;  // of the training images in this epoch
  std::int64_t steps_per_epoch_, step_ = 0;
  Sums epoch_sums_;
  std::vector<EpochRecord> epochs_;
  std::optional<Divergence> diverged_;
};

}  // namespace normlab
