#include "experiments/warmup/warmup.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/tasks/digits_task.hpp"
#include "experiments/tasks/translation_task.hpp"
#include "experiments/warmup/report.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

WarmupOptions tiny() {
  WarmupOptions options;
  options.tasks = {"digits"};
  options.layers = {1};
  options.optimizers = {"adam", "sgd"};
  options.warmups = {0, 5};
  options.rates = {1e-3, 1e-2};
  options.sgd_rates = {0.1};
  options.epochs = 1;
  options.batch_size = 64;
  options.width = 8;
  return options;
}

// How the grid trains a cell of `tiny` with Adam, a rate of 0.01 and a warmup of 5 steps.
TrainingOptions training_of_cell(std::uint64_t seed) {
  return {.optimizer = "adam",
          .lr = 1e-2,
          .schedule = Decay::constant,
          .warmup = 5,
          .epochs = 1,
          .batch_size = 64,
          .clip = 0.0,
          .seed = seed};
}

EpochRecord last_epoch(double test_loss, double accuracy) {
  EpochRecord record;
  record.test_loss = test_loss;
  record.test_accuracy = accuracy;
  return record;
}

// A result with made-up runs: accuracy and loss by (placement, warmup, rate, seed).
template <typename F>
WarmupResult made_up(const WarmupOptions& options, F run_of) {
  WarmupResult result{options, needed_runs(options)};
  for (WarmupRun& run : result.runs) {
    run.loss_of_frequencies = 2.0;
    run.curve = {2.0, 1.0};
    run.trained = run_of(run.cell);
    run.known = true;
  }
  return result;
}

}  // namespace

TEST_CASE("warmup: the grid has every combination once, and sgd its own rates") {
  const std::vector<WarmupRun> runs = needed_runs(tiny());
  // 2 placements, 2 warmups, 2 seeds: with 2 rates of adam and one of sgd.
  CHECK(runs.size() == 2 * 2 * 2 * (2 + 1));
  for (const WarmupRun& run : runs) CHECK((run.cell.optimizer == "sgd") == (run.cell.rate == 0.1));
}

TEST_CASE("warmup: a run is that of train_digits with a constant rate, and nothing else changed") {
  WarmupOptions options = tiny();
  options.placements = {Placement::pre};
  options.optimizers = {"adam"};
  options.warmups = {5};
  options.rates = {1e-2};
  options.seeds = {3};
  std::vector<WarmupRun> runs = needed_runs(options);
  train_runs(options, 2, runs);
  REQUIRE(runs.size() == 1);

  TrainDigitsOptions same;
  same.placement = Placement::pre;
  same.layers = 1;
  same.width = 8;
  same.training = training_of_cell(3);
  const TrainingResult expected = run_training(digits_task(same, load_digits()), same.training, 1);
  REQUIRE(runs[0].trained.epochs.size() == 1);
  CHECK(runs[0].trained.epochs[0].test_loss == expected.epochs[0].test_loss);
  CHECK(runs[0].trained.epochs[0].lr == 1e-2);
  CHECK(runs[0].trained.epochs[0].step == 23);
  CHECK(runs[0].curve.size() == 1);  // of the first 15 steps
  // Ten digits, about alike frequent.
  CHECK(std::abs(runs[0].loss_of_frequencies - std::log(10.0)) < 1e-3);
}

TEST_CASE("warmup: the translation task puts half of the layers into the decoder") {
  WarmupOptions options = tiny();
  options.tasks = {"numbers"};
  options.placements = {Placement::post};
  options.layers = {4};
  options.optimizers = {"adam"};
  options.warmups = {5};
  options.rates = {1e-2};
  options.seeds = {1};
  std::vector<WarmupRun> runs = needed_runs(options);
  train_runs(options, 1, runs);

  TrainTranslationOptions same;
  same.examples = 1600;
  same.placement = Placement::post;
  same.layers = 2;
  same.width = 8;
  same.training = training_of_cell(1);
  const TrainingTask task = translation_task(same, translation_data(same));
  const TrainingResult expected = run_training(task, same.training, 1);
  CHECK(runs[0].trained.epochs[0].test_loss == expected.epochs[0].test_loss);
  CHECK(runs[0].loss_of_frequencies == task.loss_of_frequencies);
}

TEST_CASE("warmup: what is known is not trained again, and is read back bit for bit") {
  WarmupOptions options = tiny();
  options.optimizers = {"adam"};
  options.seeds = {0};
  WarmupResult result{options, needed_runs(options)};
  int finished = 0;
  train_runs(options, 1, result.runs, [&](const WarmupRun&) { ++finished; });
  CHECK(finished == 8);
  WarmupResult again{options, needed_runs(options)};
  for (std::size_t i = 0; i < 5; ++i) read_run(json_of(result.runs[i]), again.runs[i]);
  train_runs(options, 3, again.runs, [&](const WarmupRun&) { ++finished; });
  CHECK(finished == 8 + 3);
  CHECK(json_lines_of(again) == json_lines_of(result));
  CHECK(text_of(again) == text_of(result));

  WarmupRun& run = again.runs[0];
  for (const char* text :
       {"{}", "[]", R"({"loss_of_frequencies": 1, "epochs": 3, "diverged": null})",
        R"({"loss_of_frequencies": 1, "epochs": [], "diverged": null})",
        R"({"loss_of_frequencies": 1, "curve": [], "epochs": [], "diverged": null})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_run(nlohmann::ordered_json::parse(text), run), std::runtime_error);
  }
}

TEST_CASE("warmup: runs that diverge or do not learn are told apart, and counted") {
  WarmupRun run;
  run.loss_of_frequencies = 2.0;
  run.trained.epochs = {last_epoch(1.79, 0.5)};
  CHECK(outcome_of(run) == Outcome::learned);
  run.trained.epochs = {last_epoch(1.81, 0.5)};
  CHECK(outcome_of(run) == Outcome::stuck);
  CHECK(accuracy_of(run) == 0.5);
  run.trained.epochs = {last_epoch(NAN, 0.1)};
  CHECK(outcome_of(run) == Outcome::stuck);  // no number is not below the limit
  run.trained.epochs = {last_epoch(1.81, 0.5)};
  run.trained.diverged = Divergence{3, INFINITY, NAN, "an op"};
  CHECK(outcome_of(run) == Outcome::diverged);
  CHECK(accuracy_of(run) == 0.0);
  WarmupRun read;
  read_run(json_of(run), read);
  REQUIRE(read.trained.diverged.has_value());
  CHECK(read.trained.diverged->loss == INFINITY);
  CHECK(std::isnan(read.trained.diverged->grad_norm));
}

TEST_CASE("warmup: the table tells the article's comparisons from the runs") {
  WarmupOptions options = tiny();
  options.optimizers = {"adam"};
  options.seeds = {0, 1, 2};
  const WarmupResult result = made_up(options, [](const WarmupCell& cell) {
    const bool fails = cell.placement == Placement::post && cell.warmup == 0 && cell.rate > 5e-3;
    TrainingResult trained;
    trained.epochs = {last_epoch(fails ? 2.1 : 1.0, fails ? 0.1 : 0.9)};
    if (cell.placement == Placement::pre && cell.seed == 1) trained.epochs[0].test_accuracy = 0.8;
    if (cell.placement == Placement::pre && cell.rate > 5e-3 && cell.warmup == 5 && cell.seed < 2) {
      trained.diverged = Divergence{1, 1e9, 1.0, "grown"};
    }
    if (cell.placement == Placement::pre && cell.rate > 5e-3 && cell.warmup == 0 &&
        cell.seed == 2) {
      trained.epochs[0].test_loss = 1.9;
    }
    return trained;
  });
  const std::string text = text_of(result);
  CAPTURE(text);
  const auto has = [&](const std::string& line) { return text.find(line + "\n") != text.npos; };
  CHECK(has("digits, 1 layers                rate 0.001          rate 0.01"));
  CHECK(has("post  adam  no warmup   90.0 [90.0, 90.0]          stuck 3/3 "));
  CHECK(has("post  adam  warmup 5    90.0 [90.0, 90.0]  90.0 [90.0, 90.0] "));
  CHECK(has("pre   adam  no warmup   90.0 [80.0, 90.0]  90.0 [80.0, 90.0]*"));
  CHECK(has("pre   adam  warmup 5    90.0 [80.0, 90.0]       diverged 2/3 "));
  CHECK(has("post  adam  +warmup 5                 +0.0              +80.0"));
  CHECK(has("pre - post, no warmup                 +0.0              +80.0"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);

  const Report page = report_of(result, "warmup");
  REQUIRE(page.heat_maps.size() == 2);
  CHECK(page.heat_maps[0].cells[0][0].text == "90");
  CHECK(page.heat_maps[0].cells[0][1].text == "stuck");
  CHECK(page.heat_maps[1].cells[1][1].text == "div");
  REQUIRE(page.panels.size() == 1);
  CHECK(page.panels[0].plots.size() == 4);
  CHECK(html_of(page).find("rate") != std::string::npos);

  const std::string json = json_lines_of(result);
  std::istringstream documents(json);
  std::size_t epochs = 0, outcomes = 0, count = 0;
  for (std::string line; std::getline(documents, line); ++count) {
    const auto document = nlohmann::json::parse(line);
    epochs += document.contains("epoch");
    outcomes += document.contains("outcome");
  }
  CHECK(epochs == 24);
  CHECK(outcomes == 24);
  CHECK(count == 1 + 24 + 24);
}

TEST_CASE("warmup: bad options are refused before anything is trained") {
  const auto refuses = [](const std::function<void(WarmupOptions&)>& change,
                          std::string_view message) {
    WarmupOptions options = tiny();
    change(options);
    check_refused([&] { check_options(options); }, message);
  };
  CHECK_NOTHROW(check_options(tiny()));
  refuses([](auto& o) { o.tasks = {"chess"}; }, "[warmup] --task: must be one of digits");
  refuses([](auto& o) { o.layers = {2, 2}; }, "[warmup] --layers: must differ from one another");
  refuses([](auto& o) { o.tasks = {"numbers"}; }, "[warmup] --layers: must be even for numbers");
  refuses([](auto& o) { o.rates = {}; }, "[warmup] --lr: must name at least one");
  refuses([](auto& o) { o.seeds = {1, 1}; }, "[warmup] --seeds");
  refuses([](auto& o) { o.warmups = {0, 24}; }, "[warmup] --warmup: must be at most the 23 steps");
  refuses([](auto& o) { o.width = 6; }, "[warmup] --width: must be a multiple of the 4 heads");
}
