#include "experiments/gradient_flow/gradient_flow.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/ops/cross_entropy.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "nn/optim/update_rules.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;
using namespace normlab::gradient_flow;

namespace {

Options tiny() {
  Options options;
  options.layers = 3;
  options.width = 8;
  options.warmups = {0, 4};
  options.steps = 8;
  options.every = 4;
  return options;
}

double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

}  // namespace

TEST_CASE(
    "gradient_flow: the first snapshot is of the untrained model, the last one after all steps") {
  const Measured result = measure(tiny(), {.threads = 2});
  REQUIRE(result.runs.size() == 4);
  for (const Run& run : result.runs) {
    REQUIRE(run.snapshots.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const Snapshot& snapshot = run.snapshots[i];
      CHECK(snapshot.step == static_cast<std::int64_t>(4 * i));
      CHECK(snapshot.w2_grad_norm.size() == 3);
      CHECK(snapshot.w2_update_ratio.size() == 3);
      CHECK(snapshot.stream.size() == 3);
    }
    // The rate of update 1, 5 and 9.
    CHECK(relative(run.snapshots[0].rate, run.warmup == 0 ? 2e-3 : 2e-3 / 4.0) < 1e-15);
    CHECK(run.snapshots[1].rate == 2e-3);
  }
  // Before the first update nothing depends on the warmup.
  CHECK(result.runs[0].snapshots[0].w2_grad_norm == result.runs[1].snapshots[0].w2_grad_norm);
  CHECK(result.runs[0].snapshots[0].stream == result.runs[1].snapshots[0].stream);
  CHECK(result.runs[0].snapshots[1].loss != result.runs[1].snapshots[1].loss);
  // Post-norm hands on tokens of mean square 1.
  for (const double size :
       {result.runs[0].snapshots[0].stream[1], result.runs[0].snapshots[0].stream[2]}) {
    CHECK(std::abs(size - 1.0) < 1e-3);
  }
}

TEST_CASE("gradient_flow: gradients and updates are those of a training by hand") {
  Options options = tiny();
  options.placements = {Placement::pre};
  options.warmups = {0};
  options.optimizer = "sgd";
  options.lr = 0.1;
  options.steps = 1;
  options.every = 1;
  const Measured result = measure(options, {.threads = 1});
  const Snapshot& first = result.runs[0].snapshots[0];
  const Snapshot& second = result.runs[0].snapshots[1];
  // Momentum's first step is the plain one: the change is rate times gradient.
  TrainDigitsOptions same;
  same.placement = Placement::pre;
  same.layers = options.layers;
  same.width = options.width;
  same.training = {.optimizer = "sgd",
                   .lr = options.lr,
                   .schedule = "constant",
                   .warmup = 0,
                   .epochs = 1,
                   .batch_size = options.batch_size,
                   .clip = 0.0};
  Trainer trainer(digits_task(same, load_digits()), same.training, 1);
  const double loss = trainer.step().loss;
  CHECK(first.loss == loss);
  for (std::size_t block = 0; block < 3; ++block) {
    const std::string name = "encoder.layers." + std::to_string(block) + ".linear2.weight";
    double square = 0.0;
    for (const double each : trainer.model().parameter(name).grad.values()) square += each * each;
    CHECK(relative(first.w2_grad_norm[block], std::sqrt(square)) < 1e-13);
    double weight = 0.0;
    Trainer untrained(digits_task(same, load_digits()), same.training, 1);
    for (const double each : untrained.model().parameter(name).value.values()) {
      weight += each * each;
    }
    const double expected = options.lr * std::sqrt(square) / std::sqrt(weight);
    CHECK(relative(first.w2_update_ratio[block], expected) < 1e-12);
  }
  CHECK(second.loss == trainer.step().loss);
}

TEST_CASE("gradient_flow: text, JSON, page, and the same of all on any number of threads") {
  const Measured result = measure(tiny(), {.threads = 1});
  const lab::Results found = results(result);
  const std::string text = lab::to_text(found);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(text.find("post-norm, warmup of 4 steps") != std::string::npos);
  const std::string json = lab::to_json(found);
  CHECK(lab::to_json(results(measure(tiny(), {.threads = 3}))) == json);
  const auto tables = nlohmann::json::parse(json)["tables"];
  CHECK(tables["runs"].size() == 4);
  CHECK(tables["runs"][3]["warmup"] == 4);
  CHECK(tables["snapshots"].size() == 4 * 3);
  CHECK(tables["snapshots"][11]["stream_sq_norm_per_d"].size() == 3);
  CHECK(tables["snapshots"][11]["placement"] == "pre");
  CHECK(found.figures.size() == 5);
}

TEST_CASE("gradient_flow: no block is shown twice, however few there are") {
  const auto header = [](std::int64_t layers) {
    const auto list = std::vector<double>(static_cast<std::size_t>(layers), 1.0);
    Measured made_up{{.layers = layers, .warmups = {0}}, {{Placement::pre, 0}}};
    made_up.runs[0].snapshots = {{0, 0.1, 2.0, list, list, list}};
    std::istringstream text(lab::to_text(results(made_up)));
    std::string words, line, word;
    while (std::getline(text, line) && !line.starts_with("step")) continue;
    std::istringstream titles(line);
    while (titles >> word) words += word + " ";
    return words;
  };
  CHECK(header(1) == "step rate loss grad 1 dW/W 1 stream 1 ");
  CHECK(header(2) == "step rate loss grad 1 grad 2 dW/W 1 dW/W 2 stream 2 ");
  CHECK(header(3) == "step rate loss grad 1 grad 2 grad 3 dW/W 1 dW/W 2 dW/W 3 stream 3 ");
  CHECK(header(12) == "step rate loss grad 1 grad 6 grad 12 dW/W 1 dW/W 6 dW/W 12 stream 12 ");
}

TEST_CASE("gradient_flow: a run that diverges ends there and says so") {
  Options options = tiny();
  options.optimizer = "sgd";
  options.lr = 1e300;
  options.warmups = {0};
  const Measured result = measure(options, {.threads = 2});
  for (const Run& run : result.runs) {
    REQUIRE(run.diverged.has_value());
    CHECK(run.snapshots.size() <= 1);
  }
  const lab::Results found = results(result);
  CHECK(lab::to_text(found).find("no warmup: diverged at step 2") != std::string::npos);
  CHECK(found.look_for.size() == 2 + 2);
  CHECK(found.exit_code == 0);
}

TEST_CASE("gradient_flow: bad options are refused before anything is trained") {
  const auto refuses = [](const std::function<void(Options&)>& change, std::string_view message) {
    Options options = tiny();
    change(options);
    check_refused([&] { check(options); }, message);
  };
  refuses([](auto& o) { o.warmups = {9}; }, "[gradient_flow] --warmup: must be at most the 8");
  refuses([](auto& o) { o.warmups = {1, 1}; }, "[gradient_flow] --warmup: must differ");
  refuses([](auto& o) { o.every = 0; }, "[gradient_flow] --every: must be at least 1");
  refuses([](auto& o) { o.steps = 0; }, "[gradient_flow] --");
  refuses([](auto& o) { o.width = 6; },
          "[gradient_flow] --width: must be a multiple of the 4 heads");
  refuses([](auto& o) { o.norm = "nonorm"; }, "[Registry] norm");
}
