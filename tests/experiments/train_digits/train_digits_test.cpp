#include "experiments/train_digits/train_digits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/ops/cross_entropy.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

TrainDigitsOptions tiny() {
  TrainDigitsOptions options;
  options.layers = 1;
  options.width = 8;
  options.training.warmup = 2;
  options.training.epochs = 2;
  options.training.batch_size = 40;
  options.training.dropout = 0.1;
  return options;
}

Digits some_digits() { return load_digits().range(0, 125); }  // 100 to train on: 3 steps an epoch

Trainer trainer_of(const TrainDigitsOptions& options) {
  return Trainer(digits_task(options, some_digits()), options.training, 1);
}

TrainingResult train(const TrainDigitsOptions& options, const TrainingHooks& hooks = {}) {
  return run_training(digits_task(options, some_digits()), options.training, 1, hooks);
}

std::string bytes_after(const TrainDigitsOptions& options, std::int64_t steps) {
  Trainer trainer = trainer_of(options);
  while (trainer.steps_done() < steps) {
    trainer.step();
    if (trainer.at_end_of_epoch()) trainer.end_epoch();
  }
  return to_safetensors(trainer.checkpoint());
}

}  // namespace

TEST_CASE("train_digits: the split is four fifths, the same for every seed, pixels from -1 to 1") {
  const DigitsSplit split = split_digits(load_digits());
  CHECK(split.train.size() == 1437);
  CHECK(split.test.size() == 360);
  const auto [least, most] =
      std::minmax_element(split.train.images.values().begin(), split.train.images.values().end());
  CHECK(*least == -1.0);
  CHECK(*most == 1.0);
}

TEST_CASE("train_digits: it learns, and the records say so") {
  TrainDigitsOptions options = tiny();
  options.training.epochs = 12;
  options.width = 16;
  options.training.lr = 1e-2;
  options.training.dropout = 0.0;
  const TrainingResult result =
      run_training(digits_task(options, load_digits().range(0, 500)), options.training, 1);
  CHECK_FALSE(result.diverged.has_value());
  REQUIRE(result.epochs.size() == 12);
  CHECK(result.epochs[0].epoch == 1);
  CHECK(result.epochs[0].step == 10);
  CHECK(result.epochs.back().step == 120);
  CHECK(result.epochs.back().train_accuracy > 0.6);
  CHECK(result.epochs.back().test_accuracy > 0.5);
  CHECK(result.epochs.back().train_loss < 0.5 * result.epochs.front().train_loss);
}

TEST_CASE("train_digits: a resumed run has the bytes of one that was not stopped, at every step") {
  TrainDigitsOptions options = tiny();
  for (const char* optimizer : {"adamw", "sgd"}) {
    options.training.optimizer = optimizer;
    options.norm = options.training.optimizer == "sgd" ? "batchnorm" : "layernorm";
    CAPTURE(optimizer);
    const std::string whole = bytes_after(options, 6);
    for (std::int64_t stop = 1; stop <= 6; ++stop) {
      CAPTURE(stop);
      const Safetensors saved = parse_safetensors(bytes_after(options, stop), "saved");
      CHECK(saved.metadata.at("normlab.train_digits") == json_of(options).dump());
      Trainer trainer = trainer_of(options);
      trainer.restore(saved, "saved");
      CHECK(trainer.steps_done() == stop);
      while (trainer.steps_done() < 6) {
        trainer.step();
        if (trainer.at_end_of_epoch()) trainer.end_epoch();
      }
      CHECK(to_safetensors(trainer.checkpoint()) == whole);
    }
  }
}

TEST_CASE("train_digits: slices of a batch add up to the gradient of the whole batch") {
  // 100 images in one batch are 7 slices; the first update of plain SGD is the gradient itself.
  TrainDigitsOptions options = tiny();
  options.training.batch_size = 100;
  options.training.dropout = 0.0;
  options.training.clip = 0.0;
  options.training.optimizer = "sgd";
  options.training.lr = 1.0;
  options.training.warmup = 0;
  Trainer trainer = trainer_of(options);
  const NamedTensors before = trainer.checkpoint().tensors;
  const Trainer::Step step = trainer.step();
  const NamedTensors after = trainer.checkpoint().tensors;

  Generator root(options.training.seed);
  Generator weights(root.next64());
  VisionTransformer model(model_options(options), weights);
  const Digits train = split_digits(some_digits()).train;
  Tape tape;
  const Var loss = cross_entropy(model.forward(tape.constant(train.images)), train.labels);
  tape.backward(loss);
  CHECK(std::abs(loss.value().item() - step.loss) <= 1e-13);
  for (const auto& named : model.named_parameters()) {
    const std::string& name = named.first;
    const Parameter* parameter = named.second;
    CAPTURE(name);
    CHECK(max_abs_difference(parameter->value, *find_tensor(before, name)) == 0.0);
    Tensor expected = parameter->value;
    for (std::int64_t i = 0; i < expected.numel(); ++i) {
      expected.mutable_data()[i] -= parameter->grad.data()[i];
    }
    CHECK(relative_error(*find_tensor(after, name), expected) <= 1e-13);
  }
}

TEST_CASE("train_digits: a divergence is named with its step and the first op, and ends the run") {
  TrainDigitsOptions options = tiny();
  options.training.optimizer = "sgd";
  options.training.clip = 0.0;
  options.training.warmup = 0;
  options.training.lr = 1e300;
  const TrainingResult result = train(options);
  REQUIRE(result.diverged.has_value());
  CHECK(result.diverged->step == 2);
  CHECK(result.diverged->origin.starts_with("[anomaly] "));
  CHECK(result.diverged->origin.find("the output holds") != std::string::npos);
  CHECK(result.epochs.empty());
  const lab::Results found = train_digits::results(options, result);
  CHECK(found.exit_code == 3);
  CHECK(found.exit_message == "diverged at step 2: " + result.diverged->origin);
  CHECK(lab::to_text(found).find("diverged at step 2: loss ") != std::string::npos);
  const auto json = nlohmann::json::parse(lab::to_json(found));
  CHECK(json["tables"]["outcome"][0]["diverged_step"] == 2);
  CHECK(json["tables"]["epochs"].empty());

  options.training.lr = 30.0;  // grows, and stays finite
  options.placement = Placement::re_zero;
  options.training.epochs = 30;
  const TrainingResult exploded = train(options);
  REQUIRE(exploded.diverged.has_value());
  CHECK(exploded.diverged->loss > 23.0);
}

TEST_CASE("train_digits: weights that the last update has blown up are a divergence, too") {
  TrainDigitsOptions options = tiny();
  options.training.optimizer = "sgd";
  options.training.clip = 0.0;
  options.training.warmup = 0;
  options.training.lr = 1e300;
  options.training.epochs = 1;
  options.training.batch_size = 100;  // the only step of the run
  int checkpoints = 0;
  TrainingHooks hooks;
  hooks.checkpoint = [&](const Safetensors&) { ++checkpoints; };
  hooks.trained = [](Module&) { FAIL("nothing was learned"); };
  const TrainingResult result = train(options, hooks);
  REQUIRE(result.diverged.has_value());
  CHECK(result.diverged->step == 1);
  CHECK(result.diverged->origin.starts_with("the loss on the test set"));
  CHECK(result.epochs.empty());
  CHECK(checkpoints == 0);
}

TEST_CASE("train_digits: text, JSON and page of a result") {
  const TrainingResult result = train(tiny());
  const lab::Results found = train_digits::results(tiny(), result);
  CHECK(found.exit_code == 0);
  std::istringstream text(lab::to_text(found));
  std::string last;
  for (std::string line; std::getline(text, line); last = line) CHECK(line.size() <= 80);
  CHECK(last == fmt::format("test accuracy {:.2f} %", 100.0 * result.epochs[1].test_accuracy));
  const auto json = nlohmann::ordered_json::parse(lab::to_json(found));
  CHECK(json["tables"]["outcome"][0]["diverged_step"].is_null());
  CHECK(json["tables"]["outcome"][0]["test_accuracy"] == result.epochs[1].test_accuracy);
  const auto& epochs = json["tables"]["epochs"];
  REQUIRE(epochs.size() == 2);
  CHECK(json_of(epoch_from(epochs[1])) == epochs[1]);  // the keys of files are those of tables
  CHECK(epochs[1]["test_loss"] == result.epochs[1].test_loss);
  CHECK(found.tables.at(0).rows.size() == 2);
  CHECK(found.figures.size() == 3);
  CHECK(lab::to_html(found).find("Every epoch") != std::string::npos);
}

TEST_CASE("train_digits: checkpoints come when they are due, and progress after every step") {
  std::vector<std::int64_t> seen;
  int checkpoints = 0;
  TrainingHooks hooks;
  hooks.progress = [&](const TrainingProgress& now) { seen.push_back(now.step); };
  hooks.checkpoint = [&](const Safetensors&) { ++checkpoints; };
  train(tiny(), hooks);
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(checkpoints == 2);
  hooks.every = 4;  // after step 4, and at the end
  checkpoints = 0;
  train(tiny(), hooks);
  CHECK(checkpoints == 2);
}

TEST_CASE("train_digits: options and checkpoints that do not fit are refused") {
  const auto refuses = [](const std::function<void(TrainDigitsOptions&)>& change,
                          std::string_view message) {
    TrainDigitsOptions options = tiny();
    change(options);
    check_refused([&] { trainer_of(options); }, message);
  };
  refuses([](auto& o) { o.width = 10; }, "[train_digits] --width: must be a multiple of the 4");
  refuses([](auto& o) { o.training.warmup = 7; },
          "[train_digits] --warmup: must be at most the 6 steps");
  refuses([](auto& o) { o.training.lr = -1; }, "[train_digits] --lr");
  refuses([](auto& o) { o.training.epochs = 0; }, "[train_digits] --epochs");
  refuses([](auto& o) { o.training.batch_size = 0; }, "[train_digits] --batch-size");
  refuses([](auto& o) { o.training.optimizer = "lion"; },
          "[train_digits] --optimizer: must be one of sgd");
  refuses([](auto& o) { o.norm = "nonorm"; }, "[Registry] norm");

  Trainer trainer = trainer_of(tiny());
  const Safetensors good = parse_safetensors(bytes_after(tiny(), 1), "good");
  const auto refused = [&](const Safetensors& file, const std::string& message) {
    CAPTURE(message);
    CHECK_THROWS_WITH_AS(trainer.restore(file, "f"), doctest::Contains(message.c_str()),
                         std::runtime_error);
  };
  Safetensors file = good;
  file.metadata.erase("normlab.training");
  refused(file, "f: has no normlab.training in its metadata");
  file.metadata["normlab.training"] = "{}";
  refused(file, "f: its normlab.training cannot be read");
  file = good;
  file.tensors.pop_back();
  refused(file, "f: has no training.dropout.");
  CHECK_THROWS_AS(trainer.restore({}, "f"), std::runtime_error);
}
