// What train_digits prints. Tested by tests/experiments/train_digits_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/train_digits.hpp"

namespace normlab {

std::string text_of(const TrainDigitsResult& result) {
  const TrainDigitsOptions& options = result.options;
  std::string text = fmt::format(
      "{}-norm ({}), {} layers of width {}, {} with peak rate {:g} ({}, warmup {}), seed {}\n"
      "epoch   step        rate  train loss  accuracy  gradient  test loss  accuracy\n",
      name(options.placement), options.norm, options.layers, options.width, options.optimizer,
      options.lr, name(options.schedule), options.warmup, options.seed);
  for (const EpochRecord& each : result.epochs) {
    text += fmt::format(
        "{:>5} {:>6}  {:>10.3e}  {:>10.4f}  {:>6.2f} %  {:>8.3g}  {:>9.4f}  {:>6.2f} %\n",
        each.epoch, each.step, each.lr, each.train_loss, 100.0 * each.train_accuracy,
        each.grad_norm, each.test_loss, 100.0 * each.test_accuracy);
  }
  if (result.diverged) {
    const Divergence& divergence = *result.diverged;
    text += fmt::format("diverged at step {}: loss {:g}, gradient norm {:g}\n", divergence.step,
                        divergence.loss, divergence.grad_norm);
  } else if (!result.epochs.empty()) {
    text += fmt::format("test accuracy {:.2f} %\n", 100.0 * result.epochs.back().test_accuracy);
  }
  return text;
}

}  // namespace normlab
