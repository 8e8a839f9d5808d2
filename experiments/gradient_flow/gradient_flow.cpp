// Tested by tests/experiments/gradient_flow/gradient_flow_test.cpp.
#include "experiments/gradient_flow/gradient_flow.hpp"

#include <functional>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "gradient_flow";
constexpr std::int64_t kProbeImages = 32;

TrainDigitsOptions training_of(const GradientFlowOptions& options, Placement placement,
                               std::int64_t warmup) {
  TrainDigitsOptions training;
  training.norm = options.norm;
  training.placement = placement;
  training.layers = options.layers;
  training.width = options.width;
  training.training = {.dropout = 0.0,
                       .optimizer = options.optimizer,
                       .lr = options.rate,
                       .schedule = Decay::constant,
                       .warmup = warmup,
                       .epochs = options.steps,  // at least as many steps
                       .batch_size = options.batch_size,
                       .clip = 0.0,
                       .seed = options.seed};
  return training;
}

// One run, looked at from step to step.
class FlowRun {
 public:
  FlowRun(const GradientFlowOptions& options, const Digits& digits, Flow& flow)
      : options_(options),
        flow_(flow),
        training_(training_of(options, flow.placement, flow.warmup)),
        task_(digits_task(training_, digits, kProgram)),
        trainer_(task_, training_.training, 1) {
    for (std::int64_t block = 0; block < options.layers; ++block) {
      w2_.push_back(
          &trainer_.model().parameter(fmt::format("encoder.layers.{}.linear2.weight", block)));
    }
  }

  void run() {
    for (std::int64_t step = 0; step <= options_.steps; ++step) {
      const bool look = step % options_.every == 0 || step == options_.steps;
      FlowRecord record{.step = step};
      if (look) record.stream = stream();
      record.loss = trainer_.compute_gradients().loss;
      if ((flow_.diverged = trainer_.diverged())) return;
      if (look) note_gradients(record);
      trainer_.update();
      if (look) {
        note_updates(record);
        flow_.records.push_back(std::move(record));
      }
    }
  }

 private:
  void note_gradients(FlowRecord& record) {
    before_.clear();
    for (const Parameter* each : w2_) {
      record.w2_grad_norm.push_back(norm(each->grad));
      before_.push_back(each->value);
    }
  }

  void note_updates(FlowRecord& record) {
    record.rate = trainer_.rate_of_last_step();
    for (std::size_t block = 0; block < w2_.size(); ++block) {
      const Tensor change = zip(w2_[block]->value, before_[block], std::minus<>{});
      record.w2_update_ratio.push_back(norm(change) / norm(before_[block]));
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

  const GradientFlowOptions& options_;
  Flow& flow_;
  TrainDigitsOptions training_;
  TrainingTask task_;
  Trainer trainer_;
  std::vector<Parameter*> w2_;
  std::vector<Tensor> before_;  // W2 before the update, which writes to a buffer of its own
};

}  // namespace

void check_options(const GradientFlowOptions& options) {
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--warmup", options.warmups);
  for (const std::int64_t warmup : options.warmups) {
    check(warmup >= 0 && warmup <= options.steps, kProgram, "--warmup",
          fmt::format("must be at most the {} steps of the run (0: no warmup)", options.steps),
          [&] { return std::to_string(warmup); });
  }
  check(options.steps >= 1, kProgram, "--steps", "must be at least 1",
        [&] { return std::to_string(options.steps); });
  check(options.every >= 1, kProgram, "--every", "must be at least 1",
        [&] { return std::to_string(options.every); });
  // What is left, such as a norm that does not fit the width, the model says.
  const Digits digits = load_digits();
  GradientFlowOptions shallow = options;
  shallow.layers = 1;
  for (const Placement placement : options.placements) {
    Flow flow{placement, 0};
    const FlowRun run(shallow, digits, flow);
  }
}

GradientFlowResult run_gradient_flow(const GradientFlowOptions& options, int threads,
                                     const JobProgress& progress) {
  check_options(options);
  GradientFlowResult result{options, {}};
  for (const Placement placement : options.placements) {
    for (const std::int64_t warmup : options.warmups) result.flows.push_back({placement, warmup});
  }
  const Digits digits = load_digits();
  std::vector<Job> jobs;
  for (Flow& flow : result.flows) {
    jobs.push_back({1.0, [&] { FlowRun(options, digits, flow).run(); }});
  }
  run_jobs(jobs, threads, progress);
  return result;
}

}  // namespace normlab
