#include "experiments/train_translation/train_translation.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/ops/cross_entropy.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "nn/models/translation_decoding.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

TrainTranslationOptions tiny() {
  TrainTranslationOptions options;
  options.examples = 60;
  options.merges = 30;
  options.layers = 1;
  options.width = 8;
  options.training.epochs = 2;
  options.training.warmup = 2;
  options.training.batch_size = 20;
  return options;
}

Trainer trainer_of(const TrainTranslationOptions& options) {
  return Trainer(translation_task(options, translation_data(options)), options.training, 1);
}

std::string bytes_after(Trainer& trainer, std::int64_t steps) {
  while (trainer.steps_done() < steps) {
    trainer.step();
    if (trainer.at_end_of_epoch()) trainer.end_epoch();
  }
  return to_safetensors(trainer.checkpoint());
}

}  // namespace

TEST_CASE("train_translation: nine tenths to train on, the same for every seed, none in both") {
  TrainTranslationOptions options = tiny();
  const auto data = translation_data(options);
  options.training.seed = 5;
  const auto again = translation_data(options);
  CHECK(data->train.text.size() == 54);
  CHECK(data->test.text.size() == 6);
  CHECK(data->train.text.source == again->train.text.source);
  const std::set<std::string> trained(data->train.text.source.begin(),
                                      data->train.text.source.end());
  for (const std::string& sentence : data->test.text.source) {
    CHECK_FALSE(trained.contains(sentence));
  }
  for (std::size_t i = 0; i < data->test.source.size(); ++i) {
    CHECK(data->source.decode(data->test.source[i]) == data->test.text.source[i]);
    CHECK(data->target.decode(data->test.target[i]) == data->test.text.target[i]);
  }
  options.tied = "all";
  const auto tied = translation_data(options);
  CHECK(tied->source.save() == tied->target.save());
}

TEST_CASE("train_translation: the loss is a mean over tokens, ends included, whatever the slices") {
  // 54 sentences in one batch are four slices of different length; momentum's first update is the
  // gradient itself.
  TrainTranslationOptions options = tiny();
  options.training = {.optimizer = "sgd",
                      .lr = 1.0,
                      .schedule = "constant",
                      .warmup = 0,
                      .epochs = 1,
                      .batch_size = 100,
                      .clip = 0.0};
  options.label_smoothing = 0.1;
  const auto data = translation_data(options);
  Trainer trainer(translation_task(options, data), options.training, 1);
  const NamedTensors before = trainer.checkpoint().tensors;
  const Trainer::Step step = trainer.step();

  Generator root(options.training.seed);
  Generator weights(root.next64());
  TranslationTransformer model({.source_vocabulary = data->source.size(),
                                .target_vocabulary = data->target.size(),
                                .layers = 1,
                                .d_model = 8,
                                .nhead = 4,
                                .dim_feedforward = 16,
                                .dropout = 0.0},
                               weights);
  // Each sentence by itself, without padding.
  double loss = 0.0, tokens = 0.0;
  for (const auto& target : data->train.target) tokens += static_cast<double>(target.size()) + 1.0;
  for (std::size_t i = 0; i < data->train.source.size(); ++i) {
    std::vector<std::int64_t> read = data->train.target[i], asked = read;
    read.insert(read.begin(), Vocabulary::kBegin);
    asked.push_back(Vocabulary::kEnd);
    Tape tape;
    const Var sum = cross_entropy(model.forward(tape, {data->train.source[i]}, {read}), asked,
                                  {.reduction = Reduction::sum, .label_smoothing = 0.1});
    tape.backward(sum, Tensor::scalar(1.0 / tokens));
    loss += sum.value().item() / tokens;
  }
  CHECK(std::abs(loss - step.loss) <= 1e-13);
  for (const auto& named : model.named_parameters()) {
    const std::string& name = named.first;
    const Parameter* parameter = named.second;
    CAPTURE(name);
    CHECK(max_abs_difference(parameter->value, *find_tensor(before, name)) == 0.0);
    CHECK(relative_error(trainer.model().parameter(name).grad, parameter->grad) <= 1e-12);
  }
}

TEST_CASE("train_translation: it learns to translate, and the score says so") {
  TrainTranslationOptions options = tiny();
  options.examples = 300;
  options.layers = 1;
  options.width = 32;
  options.text = "dates";
  options.beam = 1;
  options.training.epochs = 12;
  options.training.lr = 1e-2;
  options.training.warmup = 20;
  options.training.dropout = 0.0;
  const auto data = translation_data(options);
  TranslationScore untrained, trained;
  const auto train = [&](std::int64_t epochs, TranslationScore& score) {
    options.training.epochs = epochs;
    TrainingHooks hooks;
    hooks.trained = [&](Module& model) {
      score = score_of(dynamic_cast<TranslationTransformer&>(model), *data, options.beam);
    };
    return run_training(translation_task(options, data), options.training, 2, hooks);
  };
  train(2, untrained);
  const TrainingResult result = train(12, trained);
  CHECK_FALSE(result.diverged.has_value());
  CHECK(result.epochs.back().test_accuracy > 0.6);
  CHECK(trained.translations.size() == 30);
  CHECK(trained.bleu.score > untrained.bleu.score + 10.0);
}

TEST_CASE(
    "train_translation: the test loss is without label smoothing, the training loss with it") {
  TrainTranslationOptions options = tiny();
  options.training.dropout = 0.0;
  const auto data = translation_data(options);
  const auto loss = [&](double smoothing, TrainingTask::Part part) {
    options.label_smoothing = smoothing;
    const TrainingTask task = translation_task(options, data);
    Generator weights(1);
    const auto model = task.make_model(weights);
    Tape tape;
    return task.pass(*model, tape, part, {0, 1, 2}).loss.value().item();
  };
  using enum TrainingTask::Part;
  CHECK(loss(0.3, test) == loss(0.0, test));
  CHECK(loss(0.3, train) != loss(0.0, train));
}

TEST_CASE(
    "train_translation: the score is of the test's translations, found with a length penalty") {
  TrainTranslationOptions options = tiny();
  options.training.dropout = 0.0;
  options.text = "dates";
  options.examples = 200;
  options.training.lr = 4e-2;  // a model whose outputs end early or late
  options.training.epochs = 8;
  const auto data = translation_data(options);
  bool penalty_matters = false;
  TrainingHooks hooks;
  hooks.trained = [&](Module& module) {
    auto& model = dynamic_cast<TranslationTransformer&>(module);
    const TranslationScore score = score_of(model, *data, 3);
    const std::vector<std::string>& references = data->test.text.target;
    // BLEU and its counts change when outputs and references change places.
    const Bleu expected = corpus_bleu(score.translations, {references});
    CHECK(score.bleu.str() == expected.str());
    CHECK(corpus_bleu(references, {score.translations}).str() != expected.str());
    CHECK(score.exact == exact_match(score.translations, references));
    // Twice the longest training target and the end.
    std::int64_t longest = 0;
    for (const auto& tokens : data->train.target) longest = std::max(longest, std::ssize(tokens));
    const auto found = [&](double penalty) {
      std::vector<std::string> outputs;
      for (const auto& tokens : beam_decode(model, data->test.source,
                                            {.beam_size = 3,
                                            .max_length = 2 * longest + 1,
                                            .begin = Vocabulary::kBegin,
                                            .end = Vocabulary::kEnd,
                                            .length_penalty = penalty})) {
        outputs.push_back(data->target.decode(tokens));
      }
      return outputs;
    };
    CHECK(score.translations == found(0.6));
    penalty_matters = found(0.0) != found(0.6);
  };
  run_training(translation_task(options, data), options.training, 1, hooks);
  CHECK(penalty_matters);  // else nothing would be seen of it above
}

TEST_CASE("train_translation: a resumed run has the bytes of one that was not stopped") {
  for (const char* tied : {"none", "all"}) {
    TrainTranslationOptions options = tiny();
    options.tied = tied;
    const auto task = translation_task(options, translation_data(options));
    Trainer straight(task, options.training, 1);
    const std::string whole = bytes_after(straight, 6);
    for (const std::int64_t stop : {1, 3, 6}) {
      CAPTURE(stop);
      Trainer first(task, options.training, 1);
      const Safetensors saved = parse_safetensors(bytes_after(first, stop), "saved");
      CHECK(saved.metadata.at("normlab.train_translation") == json_of(options).dump());
      Trainer second(task, options.training, 1);
      second.restore(saved, "saved");
      CHECK(bytes_after(second, 6) == whole);
    }
  }
}

TEST_CASE("train_translation: the chance-level loss is the entropy of the target's tokens") {
  const TrainTranslationOptions options = tiny();
  const auto data = translation_data(options);
  std::map<std::int64_t, double> counts;
  double all = 0.0;
  for (const auto& sentence : data->train.target) {
    for (const std::int64_t token : sentence) ++counts[token];
    ++counts[Vocabulary::kEnd];
    all += static_cast<double>(sentence.size()) + 1.0;
  }
  double expected = 0.0;
  for (const auto& [token, count] : counts) expected += count / all * std::log(all / count);
  const double loss = translation_task(options, data).chance_loss;
  CHECK(std::abs(loss - expected) <= 1e-12 * expected);
}

TEST_CASE("train_translation: two files of aligned sentences") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "normlab_train_translation_test";
  std::filesystem::create_directories(folder);
  const TextFiles files{(folder / "de").string(), (folder / "en").string()};
  std::ofstream source(files.source), target(files.target);
  for (int i = 0; i < 20; ++i) {
    source << "der Satz " << i << "\n";
    target << "sentence " << i << "\n";
  }
  source.close();
  target.close();
  TrainTranslationOptions options = tiny();
  options.text = "files";
  options.tokens = "characters";
  const auto data = translation_data(options, files);
  CHECK(data->train.text.size() == 18);
  CHECK(data->train.source[0].size() == data->train.text.source[0].size());
  std::ofstream(files.target, std::ios::app) << "one more\n";
  CHECK_THROWS_AS(translation_data(options, files), std::runtime_error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("train_translation: bad options are refused") {
  const auto refuses = [](const std::function<void(TrainTranslationOptions&)>& change,
                          std::string_view message) {
    TrainTranslationOptions options = tiny();
    change(options);
    const auto train = [&] {
      check_options(options);
      trainer_of(options);
    };
    check_refused(train, message);
  };
  refuses([](auto& o) { o.width = 10; },
          "[train_translation] --width: must be a multiple of the 4");
  refuses(
      [](auto& o) { o.examples = 1; },
      "[train_translation] --examples: must be from 2 to 1000000, as many numbers as there are");
  refuses([](auto& o) { o.text = "dates", o.examples = 365'244; },
          "[train_translation] --examples: must be from 2 to 365243, as many dates as there are");
  refuses([](auto& o) { o.beam = 0; }, "[train_translation] --beam: must be at least 1");
  refuses([](auto& o) { o.tied = "some"; }, "[train_translation] --tied: must be one of none,");
  refuses([](auto& o) { o.placement = Placement::sandwich; },
          "[train_translation] --placement: must be post or pre");
  refuses([](auto& o) { o.label_smoothing = 1.5; }, "[train_translation] --label-smoothing");
  refuses([](auto& o) { o.training.warmup = 7; }, "[train_translation] --warmup");
}
