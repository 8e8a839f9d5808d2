// Tested by tests/experiments/train_digits_test.cpp.
#include "experiments/train_digits.hpp"

#include "experiments/digits_trainer.hpp"

namespace normlab {

TrainDigitsResult run_train_digits(const TrainDigitsOptions& options, const Digits& digits,
                                   int threads, const TrainDigitsHooks& hooks,
                                   const Safetensors* resume) {
  DigitsTrainer trainer(options, digits, threads);
  if (resume != nullptr) trainer.restore(*resume, "--resume");
  constexpr std::int64_t kTokensPerImage = 16;
  std::int64_t tokens = 0;
  while (trainer.steps_done() < trainer.steps()) {
    const DigitsTrainer::Step step = trainer.step();
    if (trainer.diverged()) break;
    tokens += trainer.images_per_step() * kTokensPerImage;
    if (trainer.at_end_of_epoch()) trainer.end_epoch();
    const std::int64_t done = trainer.steps_done();
    const bool due = hooks.every > 0 ? done % hooks.every == 0 : trainer.at_end_of_epoch();
    if (hooks.checkpoint && (due || done == trainer.steps())) {
      hooks.checkpoint(trainer.checkpoint());
    }
    if (hooks.progress) {
      hooks.progress({done, trainer.steps(), step.loss, step.accuracy, step.grad_norm, tokens});
    }
  }
  return {options, trainer.epochs(), trainer.diverged()};
}

}  // namespace normlab
