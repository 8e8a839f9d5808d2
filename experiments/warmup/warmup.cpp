// Tested by tests/experiments/warmup/warmup_test.cpp.
#include "experiments/warmup/warmup.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "experiments/tasks/translation_task.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "warmup";
const std::string kNumbersTask = "numbers";
constexpr std::int64_t kNumbers = 1600;  // number names, for training and test

TrainingOptions training_of(const WarmupOptions& options, const WarmupCell& cell) {
  return {.dropout = 0.0,
          .optimizer = cell.optimizer,
          .lr = cell.rate,
          .schedule = Decay::constant,
          .warmup = cell.warmup,
          .epochs = options.epochs,
          .batch_size = options.batch_size,
          .clip = 0.0,
          .seed = cell.seed};
}

// The task of a cell; its data are made once and shared by all.
using MakeTask = std::function<TrainingTask(const WarmupCell& cell)>;

MakeTask digits(const WarmupOptions& options) {
  return [options, images = load_digits()](const WarmupCell& cell) {
    TrainDigitsOptions own;
    own.placement = cell.placement;
    own.layers = cell.layers;
    own.width = options.width;
    own.training = training_of(options, cell);
    return digits_task(own, images, kProgram);
  };
}

MakeTask numbers(const WarmupOptions& options) {
  TrainTranslationOptions own;
  own.examples = kNumbers;
  own.width = options.width;
  return [options, own, data = translation_data(own)](const WarmupCell& cell) {
    TrainTranslationOptions mine = own;
    mine.placement = cell.placement;
    mine.layers = cell.layers / 2;
    mine.training = training_of(options, cell);
    return translation_task(mine, data, kProgram);
  };
}

struct NamedTask {
  std::string name;
  MakeTask (*prepare)(const WarmupOptions& options);
  double cost;  // of a layer's epoch, relative
};

const std::vector<NamedTask>& tasks() {
  static const std::vector<NamedTask> all{{"digits", digits, 1.0}, {kNumbersTask, numbers, 0.6}};
  return all;
}

const NamedTask& task_named(const std::string& name) {
  for (const NamedTask& each : tasks()) {
    if (each.name == name) return each;
  }
  fail(kProgram, "--task", fmt::format("must be one of {}", fmt::join(warmup_task_names(), ", ")),
       name);
}

void train_run(const WarmupOptions& options, const TrainingTask& task, WarmupRun& run) {
  TrainingHooks hooks;
  double sum = 0.0;
  hooks.progress = [&](const TrainingProgress& now) {
    sum += now.loss;
    if (now.step % kCurveSteps != 0) return;
    run.curve.push_back(sum / static_cast<double>(kCurveSteps));
    sum = 0.0;
  };
  run.loss_of_frequencies = task.loss_of_frequencies;
  run.trained = run_training(task, training_of(options, run.cell), 1, hooks);
  run.known = true;
}

}  // namespace

std::vector<std::string> warmup_task_names() {
  std::vector<std::string> names;
  for (const NamedTask& each : tasks()) names.push_back(each.name);
  return names;
}

Outcome outcome_of(const WarmupRun& run) {
  if (run.trained.diverged) return Outcome::diverged;
  const double loss = run.trained.epochs.back().test_loss;
  return loss <= kStuck * run.loss_of_frequencies ? Outcome::learned : Outcome::stuck;
}

double accuracy_of(const WarmupRun& run) {
  return run.trained.diverged ? 0.0 : run.trained.epochs.back().test_accuracy;
}

std::vector<WarmupGroup> WarmupResult::groups() const {
  std::vector<WarmupGroup> all;
  const std::size_t seeds = options.seeds.size();
  for (std::size_t first = 0; first < runs.size(); first += seeds) {
    WarmupGroup group{runs[first].cell, {}};
    std::vector<double> accuracies;
    for (std::size_t i = first; i < first + seeds; ++i) {
      accuracies.push_back(accuracy_of(runs[i]));
      const Outcome outcome = outcome_of(runs[i]);
      group.stuck += outcome == Outcome::stuck;
      group.diverged += outcome == Outcome::diverged;
      ++group.runs;
    }
    group.accuracy = spread(accuracies);
    all.push_back(group);
  }
  return all;
}

void check_options(const WarmupOptions& options) {
  check_distinct(kProgram, "--task", options.tasks);
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--layers", options.layers);
  check_distinct(kProgram, "--optimizer", options.optimizers);
  check_distinct(kProgram, "--warmup", options.warmups);
  check_distinct(kProgram, "--lr", options.rates);
  check_distinct(kProgram, "--sgd-lr", options.sgd_rates);
  check_seeds(kProgram, options.seeds);
  // What is left, such as a warmup that is longer than the run, a trainer says.
  const std::vector<WarmupRun> runs = needed_runs(options);
  for (const std::string& task : options.tasks) {
    const MakeTask make = task_named(task).prepare(options);
    for (const std::int64_t layers : options.layers) {
      check(task != kNumbersTask || layers % 2 == 0, kProgram, "--layers",
            "must be even for numbers, half of them in the decoder",
            [&] { return std::to_string(layers); });
    }
    for (const std::int64_t warmup : options.warmups) {
      for (const Placement placement : options.placements) {
        WarmupCell cell = runs.front().cell;
        cell.layers = 2;
        cell.warmup = warmup;
        cell.placement = placement;
        Trainer(make(cell), training_of(options, cell), 1);
      }
    }
  }
}

std::vector<WarmupRun> needed_runs(const WarmupOptions& options) {
  std::vector<WarmupRun> runs;
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      for (const std::string& optimizer : options.optimizers) {
        for (const Placement placement : options.placements) {
          for (const std::int64_t warmup : options.warmups) {
            for (const double rate : options.rates_of(optimizer)) {
              for (const std::uint64_t seed : options.seeds) {
                runs.push_back({{task, placement, layers, optimizer, warmup, rate, seed}});
              }
            }
          }
        }
      }
    }
  }
  return runs;
}

void train_runs(const WarmupOptions& options, int threads, std::vector<WarmupRun>& runs,
                const std::function<void(const WarmupRun&)>& finished,
                const JobProgress& progress) {
  std::map<std::string, MakeTask> make;
  for (const std::string& task : options.tasks) make[task] = task_named(task).prepare(options);
  std::mutex one_at_a_time;
  std::vector<Job> jobs;
  for (WarmupRun& run : runs) {
    if (run.known) continue;
    const double cost = task_named(run.cell.task).cost * static_cast<double>(run.cell.layers);
    jobs.push_back({cost, [&] {
                      train_run(options, make.at(run.cell.task)(run.cell), run);
                      const std::lock_guard lock(one_at_a_time);
                      if (finished) finished(run);
                    }});
  }
  run_jobs(jobs, threads, progress);
}

}  // namespace normlab
