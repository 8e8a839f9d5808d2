#include "experiments/gradient_flow/gradient_flow.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/ops/cross_entropy.hpp"
#include "experiments/gradient_flow/report.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "nn/optim/update_rules.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

GradientFlowOptions tiny() {
  GradientFlowOptions options;
  options.layers = 3;
  options.width = 8;
  options.warmups = {0, 4};
  options.steps = 8;
  options.every = 4;
  return options;
}

double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

}  // namespace

TEST_CASE("gradient_flow: the first look is at the untrained model, the last one after all steps") {
  const GradientFlowResult result = run_gradient_flow(tiny(), 2);
  REQUIRE(result.flows.size() == 4);
  for (const Flow& flow : result.flows) {
    REQUIRE(flow.records.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const FlowRecord& record = flow.records[i];
      CHECK(record.step == static_cast<std::int64_t>(4 * i));
      CHECK(record.w2_grad_norm.size() == 3);
      CHECK(record.w2_update_ratio.size() == 3);
      CHECK(record.stream.size() == 3);
    }
    // The rate of update 1, 5 and 9.
    CHECK(relative(flow.records[0].rate, flow.warmup == 0 ? 2e-3 : 2e-3 / 4.0) < 1e-15);
    CHECK(flow.records[1].rate == 2e-3);
  }
  // Before the first update nothing depends on the warmup.
  CHECK(result.flows[0].records[0].w2_grad_norm == result.flows[1].records[0].w2_grad_norm);
  CHECK(result.flows[0].records[0].stream == result.flows[1].records[0].stream);
  CHECK(result.flows[0].records[1].loss != result.flows[1].records[1].loss);
  // Post-norm hands on tokens of mean square 1.
  for (const double size :
       {result.flows[0].records[0].stream[1], result.flows[0].records[0].stream[2]}) {
    CHECK(std::abs(size - 1.0) < 1e-3);
  }
}

TEST_CASE("gradient_flow: gradients and updates are those of a training by hand") {
  GradientFlowOptions options = tiny();
  options.placements = {Placement::pre};
  options.warmups = {0};
  options.optimizer = "sgd";
  options.rate = 0.1;
  options.steps = 1;
  options.every = 1;
  const GradientFlowResult result = run_gradient_flow(options, 1);
  const FlowRecord& first = result.flows[0].records[0];
  const FlowRecord& second = result.flows[0].records[1];
  // Momentum's first step is the plain one: the change is rate times gradient.
  TrainDigitsOptions same;
  same.placement = Placement::pre;
  same.layers = options.layers;
  same.width = options.width;
  same.training = {.optimizer = "sgd",
                   .lr = options.rate,
                   .schedule = Decay::constant,
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
    const double expected = options.rate * std::sqrt(square) / std::sqrt(weight);
    CHECK(relative(first.w2_update_ratio[block], expected) < 1e-12);
  }
  CHECK(second.loss == trainer.step().loss);
}

TEST_CASE("gradient_flow: text, JSON, page, and the same of all on any number of threads") {
  const GradientFlowResult result = run_gradient_flow(tiny(), 1);
  const std::string text = text_of(result);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK(text.find("post-norm, warmup of 4 steps") != std::string::npos);
  const std::string json = json_of(result);
  CHECK(json_of(run_gradient_flow(tiny(), 3)) == json);
  const auto document = nlohmann::json::parse(json);
  CHECK(document["flows"].size() == 4);
  CHECK(document["flows"][3]["records"][2]["stream_sq_norm_per_d"].size() == 3);
  const Report report = report_of(result, "gradient_flow");
  CHECK(report.figures.size() == 5);
  CHECK(report.tables.size() == 4);
}

TEST_CASE("gradient_flow: a run that diverges ends there and says so") {
  GradientFlowOptions options = tiny();
  options.optimizer = "sgd";
  options.rate = 1e300;
  options.warmups = {0};
  const GradientFlowResult result = run_gradient_flow(options, 2);
  for (const Flow& flow : result.flows) {
    REQUIRE(flow.diverged.has_value());
    CHECK(flow.records.size() <= 1);
  }
  CHECK(text_of(result).find("diverged at step 2") != std::string::npos);
  CHECK(report_of(result, "").look_for.size() == 2 + 2);
}

TEST_CASE("gradient_flow: bad options are refused before anything is trained") {
  const auto refuses = [](const std::function<void(GradientFlowOptions&)>& change,
                          std::string_view message) {
    GradientFlowOptions options = tiny();
    change(options);
    check_refused([&] { check_options(options); }, message);
  };
  refuses([](auto& o) { o.warmups = {9}; }, "[gradient_flow] --warmup: must be at most the 8");
  refuses([](auto& o) { o.warmups = {1, 1}; }, "[gradient_flow] --warmup: must differ");
  refuses([](auto& o) { o.every = 0; }, "[gradient_flow] --every: must be at least 1");
  refuses([](auto& o) { o.steps = 0; }, "[gradient_flow] --");
  refuses([](auto& o) { o.width = 6; },
          "[gradient_flow] --width: must be a multiple of the 4 heads");
  refuses([](auto& o) { o.norm = "nonorm"; }, "[Registry] norm");
}
