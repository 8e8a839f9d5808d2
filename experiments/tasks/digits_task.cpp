// Tested by tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/tasks/digits_task.hpp"

#include <memory>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/ops/cross_entropy.hpp"
#include "experiments/lab/training/training_json.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kProgram = "train_digits";
constexpr const char* kOptionsKey = "normlab.train_digits";  // in the metadata of a checkpoint
constexpr double kTrainShare = 0.8;
constexpr std::uint64_t kSplitSeed = 0;
constexpr std::int64_t kPatchSide = 2;
constexpr std::int64_t kTokensPerImage = (kDigitSide / kPatchSide) * (kDigitSide / kPatchSide);

Digits scaled(Digits digits) {
  for (double& pixel : digits.images.mutable_values()) pixel = pixel / 8.0 - 1.0;
  return digits;
}

TrainingTask::Set set_of(const Digits& digits) {
  const auto images = static_cast<std::size_t>(digits.size());
  return {std::vector<std::int64_t>(images, 1), std::vector<std::int64_t>(images, kTokensPerImage)};
}

}  // namespace

VisionTransformer::Options model_options(const TrainDigitsOptions& options) {
  return {.image_side = kDigitSide,
          .patch_side = kPatchSide,
          .classes = kDigitClasses,
          .layers = options.layers,
          .d_model = options.width,
          .nhead = kTrainHeads,
          .dim_feedforward = 2 * options.width,
          .norm = options.norm,
          .placement = options.placement,
          .dropout = options.training.dropout};
}

DigitsSplit split_digits(const Digits& digits) {
  check(digits.size() >= 2, kProgram, "digits", "must be enough to train and to test on",
        [&] { return std::to_string(digits.size()); });
  Generator generator(kSplitSeed);
  const Split split = train_test_split(digits.size(), kTrainShare, generator);
  return {scaled(digits.select(split.train)), scaled(digits.select(split.test))};
}

TrainingTask digits_task(const TrainDigitsOptions& options, const Digits& digits,
                         const std::string& program) {
  check(options.width % kTrainHeads == 0, program, "--width", "must be a multiple of the 4 heads",
        std::to_string(options.width));
  const auto data = std::make_shared<const DigitsSplit>(split_digits(digits));
  TrainingTask task;
  task.program = program;
  task.train = set_of(data->train);
  task.test = set_of(data->test);
  task.make_model = [options](Generator& weights) {
    return std::make_unique<VisionTransformer>(model_options(options), weights);
  };
  task.pass = [data](Module& model, Tape& tape, TrainingTask::Part part,
                     const std::vector<std::int64_t>& positions) -> TrainingTask::Pass {
    const Digits batch =
        (part == TrainingTask::Part::train ? data->train : data->test).select(positions);
    const Var logits = dynamic_cast<Layer&>(model).forward(tape.constant(batch.images));
    return {cross_entropy(logits, batch.labels, {.reduction = Reduction::sum}),
            count_right(logits.value(), batch.labels)};
  };
  std::vector<std::int64_t> counts(static_cast<std::size_t>(kDigitClasses), 0);
  for (const std::int64_t label : data->train.labels) ++counts[static_cast<std::size_t>(label)];
  task.outcomes = kDigitClasses;
  task.chance_loss = entropy(counts);
  task.metadata = {{kOptionsKey, json_of(options).dump()}};
  return task;
}

Json json_of(const TrainDigitsOptions& options) {
  Json json = {{"norm", options.norm},
               {"placement", name(options.placement)},
               {"layers", options.layers},
               {"width", options.width}};
  json.update(json_of(options.training));
  return json;
}

}  // namespace normlab
