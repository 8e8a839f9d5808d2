// The grid: its points, how one is trained, and what a file keeps of it. Tested by
// tests/experiments/warmup/warmup_test.cpp.
#include "experiments/lab/runs/grid.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/results/json_number.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "experiments/tasks/translation_task.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab::warmup {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProgram = "warmup";
const std::string kNumbersTask = "numbers";
constexpr std::int64_t kNumbers = 1600;  // number names, for training and test

TrainingOptions training_of(const Options& options, const Configuration& point) {
  return {.dropout = 0.0,
          .optimizer = point.optimizer,
          .lr = point.rate,
          .schedule = "constant",
          .warmup = point.warmup,
          .epochs = options.epochs,
          .batch_size = options.batch_size,
          .clip = 0.0,
          .seed = point.seed};
}

// The task of a configuration; its data are made once and shared by all.
using MakeTask = std::function<TrainingTask(const Configuration& point)>;

MakeTask digits(const Options& options) {
  return [options, images = load_digits()](const Configuration& point) {
    TrainDigitsOptions own;
    own.placement = point.placement;
    own.layers = point.layers;
    own.width = options.width;
    own.training = training_of(options, point);
    return digits_task(own, images, kProgram);
  };
}

MakeTask numbers(const Options& options) {
  TrainTranslationOptions own;
  own.examples = kNumbers;
  own.width = options.width;
  return [options, own, data = translation_data(own)](const Configuration& point) {
    TrainTranslationOptions mine = own;
    mine.placement = point.placement;
    mine.layers = point.layers / 2;
    mine.training = training_of(options, point);
    return translation_task(mine, data, kProgram);
  };
}

struct NamedTask {
  std::string name;
  MakeTask (*prepare)(const Options& options);
  double cost;  // of a layer's epoch, relative
};

const std::vector<NamedTask>& tasks() {
  static const std::vector<NamedTask> all{{"digits", digits, 1.0}, {kNumbersTask, numbers, 0.6}};
  return all;
}

const NamedTask& task_named(const std::string& name) {
  for (const NamedTask& task : tasks()) {
    if (task.name == name) return task;
  }
  fail(kProgram, "--task", fmt::format("must be one of {}", fmt::join(task_names(), ", ")), name);
}

void train(const Options& options, const TrainingTask& task, Point& point) {
  TrainingHooks hooks;
  double sum = 0.0;
  hooks.progress = [&](const TrainingProgress& now) {
    sum += now.loss;
    if (now.step % kCurveSteps != 0) return;
    point.curve.push_back(sum / static_cast<double>(kCurveSteps));
    sum = 0.0;
  };
  point.chance_loss = task.chance_loss;
  point.trained = run_training(task, training_of(options, point.configuration), 1, hooks);
}

Json key_of(const Point& point) {
  const Configuration& c = point.configuration;
  return {{"task", c.task},     {"placement", normlab::name(c.placement)},
          {"layers", c.layers}, {"optimizer", c.optimizer},
          {"warmup", c.warmup}, {"lr", c.rate},
          {"seed", c.seed}};
}

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const NamedTask& task : tasks()) names.push_back(task.name);
  return names;
}

void check(const Options& options) {
  check_distinct(kProgram, "--task", options.tasks);
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--layers", options.layers);
  check_distinct(kProgram, "--optimizer", options.optimizers);
  check_distinct(kProgram, "--warmup", options.warmups);
  check_distinct(kProgram, "--lr", options.rates);
  check_distinct(kProgram, "--sgd-lr", options.sgd_rates);
  check_seeds(kProgram, options.seeds);
  // Anything else, such as a warmup that is longer than the run, a trainer refuses.
  const std::vector<Point> points = points_of(options);
  for (const std::string& task : options.tasks) {
    const MakeTask make = task_named(task).prepare(options);
    for (const std::int64_t layers : options.layers) {
      normlab::check(task != kNumbersTask || layers % 2 == 0, kProgram, "--layers",
                     "must be even for numbers, half of them in the decoder",
                     [&] { return std::to_string(layers); });
    }
    for (const std::int64_t warmup : options.warmups) {
      for (const Placement placement : options.placements) {
        Configuration point = points.front().configuration;
        point.layers = 2;
        point.warmup = warmup;
        point.placement = placement;
        Trainer(make(point), training_of(options, point), 1);
      }
    }
  }
}

std::vector<Point> points_of(const Options& options) {
  std::vector<Point> points;
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      for (const std::string& optimizer : options.optimizers) {
        for (const Placement placement : options.placements) {
          for (const std::int64_t warmup : options.warmups) {
            for (const double rate : options.rates_of(optimizer)) {
              for (const std::uint64_t seed : options.seeds) {
                points.push_back({{task, placement, layers, optimizer, warmup, rate, seed}});
              }
            }
          }
        }
      }
    }
  }
  return points;
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  std::map<std::string, MakeTask> make;
  for (const std::string& task : options.tasks) make[task] = task_named(task).prepare(options);
  Measured measured{options, points_of(options)};
  lab::GridSteps<Point> steps;
  steps.cost = [](const Point& point) {
    const Configuration& c = point.configuration;
    return task_named(c.task).cost * static_cast<double>(c.layers);
  };
  steps.measure = [&](Point& point) {
    train(options, make.at(point.configuration.task)(point.configuration), point);
  };
  steps.header = {{"experiment", kProgram},
                  {"version", NORMLAB_VERSION},
                  {"epochs", options.epochs},
                  {"batch_size", options.batch_size},
                  {"width", options.width}};
  steps.key = key_of;
  steps.write = json_of;
  steps.read = read;
  run_grid(measured.points, run, steps);
  return measured;
}

Json json_of(const Point& point) {
  Json json = {{"chance_loss", json_number(point.chance_loss)},
               {"curve", json_numbers(point.curve)}};
  json.update(json_of(point.trained));
  return json;
}

void read(const Json& json, Point& point) {
  try {
    point.chance_loss = number_from(json.at("chance_loss"));
    point.curve = numbers_from(json.at("curve"));
    point.trained = training_from(json);
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("no run of warmup: ") + error.what());
  }
  if (!point.trained.diverged && point.trained.epochs.empty()) {
    throw std::runtime_error("no run of warmup: no epochs");
  }
}

}  // namespace normlab::warmup
