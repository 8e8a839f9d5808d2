// Tested by tests/experiments/gradient_flow/gradient_flow_test.cpp.
#include "experiments/gradient_flow/gradient_flow.hpp"

#include <functional>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"

namespace normlab::gradient_flow {

namespace {

constexpr const char* kProgram = "gradient_flow";
constexpr std::int64_t kProbeImages = 32;

TrainDigitsOptions training_of(const Options& options, Placement placement, std::int64_t warmup) {
  TrainDigitsOptions training;
  training.norm = options.norm;
  training.placement = placement;
  training.layers = options.layers;
  training.width = options.width;
  training.training = {.dropout = 0.0,
                       .optimizer = options.optimizer,
                       .lr = options.lr,
                       .schedule = "constant",
                       .warmup = warmup,
                       .epochs = options.steps,  // at least as many steps
                       .batch_size = options.batch_size,
                       .clip = 0.0,
                       .seed = options.seed};
  return training;
}

// One run, with snapshots on the way.
class Follower {
 public:
  Follower(const Options& options, const Digits& digits, Run& run)
      : options_(options),
        run_(run),
        training_(training_of(options, run.placement, run.warmup)),
        task_(digits_task(training_, digits, kProgram)),
        trainer_(task_, training_.training, 1) {
    for (std::int64_t block = 0; block < options.layers; ++block) {
      w2_.push_back(
          &trainer_.model().parameter(fmt::format("encoder.layers.{}.linear2.weight", block)));
    }
  }

  void train() {
    for (std::int64_t step = 0; step <= options_.steps; ++step) {
      const bool shown = step % options_.every == 0 || step == options_.steps;
      Snapshot snapshot{.step = step};
      if (shown) snapshot.stream = stream();
      snapshot.loss = trainer_.compute_gradients().loss;
      if ((run_.diverged = trainer_.diverged())) return;
      if (shown) note_gradients(snapshot);
      trainer_.update();
      if (shown) {
        note_updates(snapshot);
        run_.snapshots.push_back(std::move(snapshot));
      }
    }
  }

 private:
  void note_gradients(Snapshot& snapshot) {
    before_.clear();
    for (const Parameter* w2 : w2_) {
      snapshot.w2_grad_norm.push_back(norm(w2->grad));
      before_.push_back(w2->value);
    }
  }

  void note_updates(Snapshot& snapshot) {
    snapshot.rate = trainer_.rate_of_last_step();
    for (std::size_t block = 0; block < w2_.size(); ++block) {
      const Tensor change = zip(w2_[block]->value, before_[block], std::minus<>{});
      snapshot.w2_update_ratio.push_back(norm(change) / norm(before_[block]));
    }
  }

  std::vector<double> stream() {
    std::vector<double> sizes;
    Module& model = trainer_.model();
    model.eval();
    model.register_hook(
        [&](const std::string&, const Var& x) {
          const double size = norm(x.value());
          sizes.push_back(size * size / static_cast<double>(x.value().numel()));
        },
        {"input"});
    std::vector<std::int64_t> probe(static_cast<std::size_t>(kProbeImages));
    for (std::size_t i = 0; i < probe.size(); ++i) probe[i] = static_cast<std::int64_t>(i);
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    task_.pass(model, tape, TrainingTask::Part::test, probe);
    model.remove_hook();
    model.train();
    return sizes;
  }

  const Options& options_;
  Run& run_;
  TrainDigitsOptions training_;
  TrainingTask task_;
  Trainer trainer_;
  std::vector<Parameter*> w2_;
  std::vector<Tensor> before_;  // W2 before the update, which writes to a buffer of its own
};

}  // namespace

void check(const Options& options) {
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--warmup", options.warmups);
  for (const std::int64_t warmup : options.warmups) {
    normlab::check(
        warmup >= 0 && warmup <= options.steps, kProgram, "--warmup",
        fmt::format("must be at most the {} steps of the run (0: no warmup)", options.steps),
        [&] { return std::to_string(warmup); });
  }
  normlab::check(options.steps >= 1, kProgram, "--steps", "must be at least 1",
                 [&] { return std::to_string(options.steps); });
  normlab::check(options.every >= 1, kProgram, "--every", "must be at least 1",
                 [&] { return std::to_string(options.every); });
  // Anything else, such as a norm that does not fit the width, the model refuses.
  const Digits digits = load_digits();
  Options shallow = options;
  shallow.layers = 1;
  for (const Placement placement : options.placements) {
    Run run{placement, 0};
    const Follower follower(shallow, digits, run);
  }
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  Measured measured{options, {}};
  for (const Placement placement : options.placements) {
    for (const std::int64_t warmup : options.warmups) measured.runs.push_back({placement, warmup});
  }
  const Digits digits = load_digits();
  std::vector<Job> jobs;
  for (Run& own : measured.runs) {
    jobs.push_back({1.0, [&] { Follower(options, digits, own).train(); }});
  }
  run_jobs(jobs, run.threads, run.progress);
  return measured;
}

}  // namespace normlab::gradient_flow
