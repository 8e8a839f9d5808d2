// Names of options, and what they stand for. Tested by tests/experiments/train_digits_test.cpp.
#include "experiments/train_digits_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/json_number.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::pair<std::string, UpdateRule>>& optimizers() {
  static const std::vector<std::pair<std::string, UpdateRule>> all{
      {"sgd", Sgd{.momentum = 0.9}},
      {"adam", Adam{}},
      {"adamw", AdamW{.weight_decay = 0.05}},
      {"radam", RAdam{}}};
  return all;
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : optimizers()) names.push_back(name);
  return names;
}

UpdateRule update_rule(const std::string& optimizer) {
  for (const auto& [name, rule] : optimizers()) {
    if (name == optimizer) return rule;
  }
  fail("train_digits", "--optimizer",
       fmt::format("must be one of {}", fmt::join(optimizer_names(), ", ")), optimizer);
}

VisionTransformer::Options model_options(const TrainDigitsOptions& options) {
  return {.image_side = kDigitSide,
          .patch_side = 2,
          .classes = kDigitClasses,
          .layers = options.layers,
          .width = options.width,
          .heads = kTrainHeads,
          .ffn = 2 * options.width,
          .norm = options.norm,
          .placement = options.placement,
          .dropout = options.dropout};
}

Json json_of(const TrainDigitsOptions& options) {
  return {{"norm", options.norm},
          {"placement", name(options.placement)},
          {"layers", options.layers},
          {"width", options.width},
          {"dropout", options.dropout},
          {"optimizer", options.optimizer},
          {"lr", options.lr},
          {"schedule", name(options.schedule)},
          {"warmup", options.warmup},
          {"epochs", options.epochs},
          {"batch-size", options.batch_size},
          {"clip", options.clip},
          {"seed", options.seed}};
}

TrainDigitsOptions parse_options(const Json& json) {
  TrainDigitsOptions options;
  json.at("norm").get_to(options.norm);
  options.placement = nn::placements().at(json.at("placement")).placement;
  json.at("layers").get_to(options.layers);
  json.at("width").get_to(options.width);
  json.at("dropout").get_to(options.dropout);
  json.at("optimizer").get_to(options.optimizer);
  json.at("lr").get_to(options.lr);
  options.schedule = decay_of(json.at("schedule"));
  json.at("warmup").get_to(options.warmup);
  json.at("epochs").get_to(options.epochs);
  json.at("batch-size").get_to(options.batch_size);
  json.at("clip").get_to(options.clip);
  json.at("seed").get_to(options.seed);
  return options;
}

Json json_of(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"step", record.step},
          {"lr", record.lr},
          {"train_loss", json_number(record.train_loss)},
          {"train_accuracy", record.train_accuracy},
          {"grad_norm", json_number(record.grad_norm)},
          {"test_loss", json_number(record.test_loss)},
          {"test_accuracy", record.test_accuracy}};
}

EpochRecord parse_record(const Json& json) {
  return {json.at("epoch"),      json.at("step"),           json.at("lr"),
          json.at("train_loss"), json.at("train_accuracy"), json.at("grad_norm"),
          json.at("test_loss"),  json.at("test_accuracy")};
}

}  // namespace normlab
