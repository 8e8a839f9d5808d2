// What the trainer does in every step and epoch, on a model of one number whose loss is that
// number: its gradient is 1, so that all that follows can be computed by hand.
#include "experiments/lab/training/trainer.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "experiments/lab/runs/jobs.hpp"

using namespace normlab;

namespace {

struct OneNumber : Module {
  explicit OneNumber(double start) : number(&register_parameter("number", Tensor::scalar(start))) {}
  Parameter* number;
};

// What a pass was asked for.
struct Pass {
  TrainingTask::Part part;
  std::vector<std::int64_t> positions;
  bool training;  // the mode of the model
};

TrainingTask one_number(double start, std::vector<Pass>& passes) {
  TrainingTask task;
  task.program = "test";
  task.train = {std::vector<std::int64_t>(12, 1), std::vector<std::int64_t>(12, 1)};
  task.test = {std::vector<std::int64_t>(5, 1), std::vector<std::int64_t>(5, 1)};
  task.make_model = [start](Generator&) { return std::make_unique<OneNumber>(start); };
  task.pass = [&passes](Module& model, Tape& tape, TrainingTask::Part part,
                        const std::vector<std::int64_t>& positions) -> TrainingTask::Pass {
    passes.push_back({part, positions, model.training()});
    const Var number = tape.watch(*dynamic_cast<OneNumber&>(model).number);
    return {number * static_cast<double>(positions.size()), 0};
  };
  return task;
}

TrainingOptions plain() {
  return {.optimizer = "sgd",  // momentum 0.9
          .lr = 0.1,
          .schedule = "constant",
          .warmup = 0,
          .epochs = 3,
          .batch_size = 4,
          .clip = 0.0};
}

double number(Trainer& trainer) { return trainer.model().parameter("number").value.item(); }

}  // namespace

TEST_CASE("Trainer: every epoch has each training example once, in an order of its own") {
  std::vector<Pass> passes;
  run_training(one_number(1.0, passes), plain(), 1);
  std::vector<std::vector<std::int64_t>> epochs(1);
  for (const Pass& pass : passes) {
    if (pass.part == TrainingTask::Part::test) {
      epochs.emplace_back();
      continue;
    }
    epochs.back().insert(epochs.back().end(), pass.positions.begin(), pass.positions.end());
  }
  REQUIRE(epochs.size() == 3 + 1);
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::int64_t> sorted = epochs[i];
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    for (std::size_t j = 0; j < i; ++j) CHECK(epochs[i] != epochs[j]);
  }
}

TEST_CASE("Trainer: an update has the rate of its own step") {
  std::vector<Pass> passes;
  TrainingOptions options = plain();
  options.warmup = 4;
  Trainer trainer(one_number(1.0, passes), options, 1);
  // The momentum of gradients that are all 1.
  double expected = 1.0, momentum = 0.0;
  for (const double rate : {0.025, 0.05, 0.075, 0.1, 0.1}) {
    trainer.step();
    momentum = 0.9 * momentum + 1.0;
    expected -= rate * momentum;
    CHECK(std::abs(trainer.rate_of_last_step() - rate) < 1e-15);
    CHECK(std::abs(number(trainer) - expected) < 1e-14);
  }
}

TEST_CASE("Trainer: the model is trained in training mode and tested in evaluation mode") {
  std::vector<Pass> passes;
  run_training(one_number(1.0, passes), plain(), 1);
  CHECK(passes.size() == 3 * (3 + 1));
  for (const Pass& pass : passes) {
    CHECK(pass.training == (pass.part == TrainingTask::Part::train));
  }
}

TEST_CASE("Trainer: a run diverges above ten times the loss of guessing, and not below") {
  for (const std::int64_t outcomes : {2, 100}) {
    std::vector<Pass> passes;
    const double limit = 10.0 * std::log(static_cast<double>(outcomes));
    TrainingTask below = one_number(limit - 1e-9, passes), above = one_number(limit + 1e-9, passes);
    below.outcomes = above.outcomes = outcomes;
    Trainer survives(below, plain(), 1), diverges(above, plain(), 1);
    survives.step();
    CHECK_FALSE(survives.diverged().has_value());
    diverges.step();
    REQUIRE(diverges.diverged().has_value());
    CHECK(diverges.diverged()->step == 1);
    CHECK(number(diverges) == limit + 1e-9);  // the weights before the step
  }
}

TEST_CASE("Trainer: the record of an epoch is of that epoch alone") {
  std::vector<Pass> passes;
  TrainingOptions options = plain();
  options.lr = 0.0;  // the loss stays 1
  const TrainingResult result = run_training(one_number(1.0, passes), options, 1);
  REQUIRE(result.epochs.size() == 3);
  for (const EpochRecord& record : result.epochs) {
    CHECK(record.grad_norm == 1.0);
    CHECK(record.train_loss == 1.0);
    CHECK(record.test_loss == 1.0);
    CHECK(record.train_accuracy == 0.0);
  }
}

TEST_CASE("run_training: a stop keeps a checkpoint of the last step and throws Interrupted") {
  std::vector<Pass> passes;
  std::int64_t steps = 0, kept = 0;
  TrainingHooks hooks;
  hooks.progress = [&](const TrainingProgress& now) { steps = now.step; };
  hooks.checkpoint = [&](const Safetensors&) { ++kept; };
  hooks.stop = [&] { return steps == 1; };  // asked after step 2, before its progress is told
  CHECK_THROWS_AS(run_training(one_number(1.0, passes), plain(), 1, hooks), Interrupted);
  CHECK(std::ssize(passes) == 2);
  CHECK(kept == 1);
}
