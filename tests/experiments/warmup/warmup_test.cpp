#include "experiments/warmup/warmup.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "experiments/tasks/translation_task.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;
using namespace normlab::warmup;

namespace {

Options tiny() {
  Options options;
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

// How the grid trains a point of `tiny` with Adam, a rate of 0.01 and a warmup of 5 steps.
TrainingOptions training_of_point(std::uint64_t seed) {
  return {.optimizer = "adam",
          .lr = 1e-2,
          .schedule = "constant",
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
Measured made_up(const Options& options, F train) {
  Measured measured{options, points_of(options)};
  for (Point& point : measured.points) {
    point.chance_loss = 2.0;
    point.curve = {2.0, 1.0};
    point.trained = train(point.configuration);
  }
  return measured;
}

}  // namespace

TEST_CASE("warmup: the grid has every combination once, and sgd its own rates") {
  const std::vector<Point> points = points_of(tiny());
  // 2 placements, 2 warmups, 2 seeds: with 2 rates of adam and one of sgd.
  CHECK(points.size() == 2 * 2 * 2 * (2 + 1));
  for (const Point& point : points) {
    CHECK((point.configuration.optimizer == "sgd") == (point.configuration.rate == 0.1));
  }
}

TEST_CASE("warmup: a run is that of train_digits with a constant rate, and nothing else changed") {
  Options options = tiny();
  options.placements = {Placement::pre};
  options.optimizers = {"adam"};
  options.warmups = {5};
  options.rates = {1e-2};
  options.seeds = {3};
  const std::vector<Point> points = measure(options, {.threads = 2}).points;
  REQUIRE(points.size() == 1);

  TrainDigitsOptions same;
  same.placement = Placement::pre;
  same.layers = 1;
  same.width = 8;
  same.training = training_of_point(3);
  const TrainingResult expected = run_training(digits_task(same, load_digits()), same.training, 1);
  REQUIRE(points[0].trained.epochs.size() == 1);
  CHECK(points[0].trained.epochs[0].test_loss == expected.epochs[0].test_loss);
  CHECK(points[0].trained.epochs[0].lr == 1e-2);
  CHECK(points[0].trained.epochs[0].step == 23);
  // The curve has the mean loss of steps 1 to 15, and no other step.
  Trainer trainer(digits_task(same, load_digits()), same.training, 1);
  double sum = 0.0;
  for (int step = 0; step < 15; ++step) sum += trainer.step().loss;
  REQUIRE(points[0].curve.size() == 1);
  CHECK(points[0].curve[0] == sum / 15.0);
  // Ten digits, about equally frequent.
  CHECK(std::abs(points[0].chance_loss - std::log(10.0)) < 1e-3);
}

TEST_CASE("warmup: the translation task puts half of the layers into the decoder") {
  Options options = tiny();
  options.tasks = {"numbers"};
  options.placements = {Placement::post};
  options.layers = {4};
  options.optimizers = {"adam"};
  options.warmups = {5};
  options.rates = {1e-2};
  options.seeds = {1};
  const std::vector<Point> points = measure(options, {.threads = 1}).points;

  TrainTranslationOptions same;
  same.examples = 1600;
  same.placement = Placement::post;
  same.layers = 2;
  same.width = 8;
  same.training = training_of_point(1);
  const TrainingTask task = translation_task(same, translation_data(same));
  const TrainingResult expected = run_training(task, same.training, 1);
  CHECK(points[0].trained.epochs[0].test_loss == expected.epochs[0].test_loss);
  CHECK(points[0].chance_loss == task.chance_loss);
}

TEST_CASE("warmup: what is known is not trained again, and is read back bit for bit") {
  Options options = tiny();
  options.optimizers = {"adam"};
  options.seeds = {0};
  const std::string file =
      (std::filesystem::temp_directory_path() / "normlab_warmup_test.jsonl").string();
  std::filesystem::remove(file);
  const Measured whole = measure(options, {.threads = 1, .resume = file});
  std::vector<std::string> lines;
  std::ifstream written(file);
  for (std::string line; std::getline(written, line);) lines.push_back(line);
  REQUIRE(lines.size() == 1 + 8);
  std::ofstream rest(file);
  for (std::size_t i = 0; i < 1 + 5; ++i) rest << lines[i] << "\n";
  rest.close();
  double trained = 0.0;
  const Measured again = measure(
      options,
      {.threads = 3, .resume = file, .progress = [&](double, double total) { trained = total; }});
  CHECK(trained == 3.0);  // of one layer each
  CHECK(lab::to_json(results(again)) == lab::to_json(results(whole)));
  CHECK(lab::to_text(results(again)) == lab::to_text(results(whole)));
  std::filesystem::remove(file);

  Point point;
  for (const char* text : {"{}", "[]", R"({"chance_loss": 1, "epochs": 3, "diverged": null})",
                           R"({"chance_loss": 1, "epochs": [], "diverged": null})",
                           R"({"chance_loss": 1, "curve": [], "epochs": [], "diverged": null})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read(nlohmann::ordered_json::parse(text), point), std::runtime_error);
  }
}

TEST_CASE("warmup: runs that diverge or do not learn are told apart, and counted") {
  Point point;
  point.chance_loss = 2.0;
  point.trained.epochs = {last_epoch(1.79, 0.5)};
  CHECK(outcome(point) == Outcome::learned);
  point.trained.epochs = {last_epoch(1.81, 0.5)};
  CHECK(outcome(point) == Outcome::stuck);
  CHECK(accuracy(point) == 0.5);
  point.trained.epochs = {last_epoch(NAN, 0.1)};
  CHECK(outcome(point) == Outcome::stuck);  // no number is not below the limit
  point.trained.epochs = {last_epoch(1.81, 0.5)};
  point.trained.diverged = Divergence{3, INFINITY, NAN, "an op"};
  CHECK(outcome(point) == Outcome::diverged);
  CHECK(accuracy(point) == 0.0);
  Point known;
  read(json_of(point), known);
  REQUIRE(known.trained.diverged.has_value());
  CHECK(known.trained.diverged->loss == INFINITY);
  CHECK(std::isnan(known.trained.diverged->grad_norm));
}

TEST_CASE("warmup: the table tells the article's comparisons from the runs") {
  Options options = tiny();
  options.optimizers = {"adam"};
  options.seeds = {0, 1, 2};
  const Measured measured = made_up(options, [](const Configuration& c) {
    const bool fails = c.placement == Placement::post && c.warmup == 0 && c.rate > 5e-3;
    TrainingResult trained;
    trained.epochs = {last_epoch(fails ? 2.1 : 1.0, fails ? 0.1 : 0.9)};
    if (c.placement == Placement::pre && c.seed == 1) trained.epochs[0].test_accuracy = 0.8;
    if (c.placement == Placement::pre && c.rate > 5e-3 && c.warmup == 5 && c.seed < 2) {
      trained.diverged = Divergence{1, 1e9, 1.0, "grown"};
    }
    if (c.placement == Placement::pre && c.rate > 5e-3 && c.warmup == 0 && c.seed == 2) {
      trained.epochs[0].test_loss = 1.9;
    }
    return trained;
  });
  const lab::Results found = results(measured);
  const std::string text = lab::to_text(found);
  CAPTURE(text);
  const auto has = [&](const std::string& line) { return text.find(line + "\n") != text.npos; };
  CHECK(has("digits, 1 layer"));
  CHECK(has("                       rate 0.001         rate 0.01"));
  CHECK(has("post  adam  no warmup  90.0 [90.0, 90.0]  stuck 3/3"));
  CHECK(has("post  adam  warmup 5   90.0 [90.0, 90.0]  90.0 [90.0, 90.0]"));
  CHECK(has("pre   adam  no warmup  90.0 [80.0, 90.0]  90.0 [80.0, 90.0]*"));
  CHECK(has("pre   adam  warmup 5   90.0 [80.0, 90.0]  diverged 2/3"));
  CHECK(has("post adam +warmup 5          +0.0      +80.0"));
  CHECK(has("pre - post, no warmup        +0.0      +80.0"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);

  REQUIRE(found.heat_maps.size() == 2);
  CHECK(found.heat_maps[0].cells[0][0].text == "90");
  CHECK(found.heat_maps[0].cells[0][1].text == "stuck");
  CHECK(found.heat_maps[1].cells[0][1].text == "90*");
  CHECK(found.heat_maps[1].cells[1][1].text == "div");
  REQUIRE(found.panels.size() == 1);
  CHECK(found.panels[0].plots.size() == 4);
  CHECK(lab::to_html(found).find("rate") != std::string::npos);

  const auto tables = nlohmann::json::parse(lab::to_json(found))["tables"];
  CHECK(tables["groups"].size() == 8);
  CHECK(tables["groups"][7]["diverged"] == 2);
  REQUIRE(tables["runs"].size() == 24);
  CHECK(tables["runs"][0]["outcome"] == "learned");
  CHECK(tables["runs"][3]["outcome"] == "stuck");
  CHECK(tables["runs"][21]["outcome"] == "diverged");
  CHECK(tables["runs"][21]["diverged_loss"] == 1e9);
  REQUIRE(tables["epochs"].size() == 24);
  CHECK(tables["epochs"][3]["lr"] == 1e-2);      // of the configuration,
  CHECK(tables["epochs"][3]["step_lr"] == 0.0);  // and of the record
}

TEST_CASE("warmup: bad options are refused before anything is trained") {
  const auto refuses = [](const std::function<void(Options&)>& change, std::string_view message) {
    Options options = tiny();
    change(options);
    check_refused([&] { check(options); }, message);
  };
  CHECK_NOTHROW(check(tiny()));
  refuses([](auto& o) { o.tasks = {"chess"}; }, "[warmup] --task: must be one of digits");
  refuses([](auto& o) { o.layers = {2, 2}; }, "[warmup] --layers: must differ from one another");
  refuses([](auto& o) { o.tasks = {"numbers"}; }, "[warmup] --layers: must be even for numbers");
  refuses([](auto& o) { o.rates = {}; }, "[warmup] --lr: must name at least one");
  refuses([](auto& o) { o.seeds = {1, 1}; }, "[warmup] --seeds");
  refuses([](auto& o) { o.warmups = {0, 24}; }, "[warmup] --warmup: must be at most the 23 steps");
  refuses([](auto& o) { o.width = 6; }, "[warmup] --width: must be a multiple of the 4 heads");
}
