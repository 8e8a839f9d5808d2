// Names of options, records and results in files. Tested by
// tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/lab/training/training_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/lab/results/json_number.hpp"

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

UpdateRule update_rule(const std::string& program, const std::string& optimizer) {
  for (const auto& [name, rule] : optimizers()) {
    if (name == optimizer) return rule;
  }
  fail(program, "--optimizer", fmt::format("must be one of {}", fmt::join(optimizer_names(), ", ")),
       optimizer);
}

Json json_of(const TrainingOptions& options) {
  return {{"dropout", options.dropout},
          {"optimizer", options.optimizer},
          {"lr", options.lr},
          {"schedule", name(options.schedule)},
          {"warmup", options.warmup},
          {"epochs", options.epochs},
          {"batch-size", options.batch_size},
          {"clip", options.clip},
          {"seed", options.seed}};
}

TrainingOptions parse_training_options(const Json& json, const std::string& program) {
  TrainingOptions options;
  json.at("dropout").get_to(options.dropout);
  json.at("optimizer").get_to(options.optimizer);
  update_rule(program, options.optimizer);
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
  return {json.at("epoch"),
          json.at("step"),
          json.at("lr"),
          number_from(json.at("train_loss")),
          json.at("train_accuracy"),
          number_from(json.at("grad_norm")),
          number_from(json.at("test_loss")),
          json.at("test_accuracy")};
}

Json json_of(const std::optional<Divergence>& divergence) {
  if (!divergence) return nullptr;
  return {{"step", divergence->step},
          {"loss", json_number(divergence->loss)},
          {"grad_norm", json_number(divergence->grad_norm)},
          {"origin", divergence->origin}};
}

Json json_of(const TrainingResult& result) {
  Json epochs = Json::array();
  for (const EpochRecord& each : result.epochs) epochs.push_back(json_of(each));
  return {{"epochs", epochs}, {"diverged", json_of(result.diverged)}};
}

TrainingResult parse_result(const Json& json) {
  TrainingResult result;
  for (const Json& each : json.at("epochs")) result.epochs.push_back(parse_record(each));
  const Json& diverged = json.at("diverged");
  if (!diverged.is_null()) {
    result.diverged = {diverged.at("step"), number_from(diverged.at("loss")),
                       number_from(diverged.at("grad_norm")), diverged.at("origin")};
  }
  return result;
}

Json json_of(const std::string& program, const Json& config, const TrainingResult& result) {
  Json document = {{"experiment", program}, {"version", NORMLAB_VERSION}, {"config", config}};
  document.update(json_of(result));
  return document;
}

void fail_checkpoint(const std::string& program, const std::string& source,
                     const std::string& problem) {
  fail_file(program, source, problem, "name a checkpoint that " + program + " wrote");
}

void read_entry(const Safetensors& checkpoint, const std::string& key, const std::string& program,
                const std::string& source, const std::function<void(const Json&)>& parse) {
  const auto found = checkpoint.metadata.find(key);
  if (found == checkpoint.metadata.end()) {
    fail_checkpoint(program, source, fmt::format("has no {} in its metadata", key));
  }
  const auto refuse = [&](const std::exception& error) {
    fail_checkpoint(program, source, fmt::format("its {} cannot be read: {}", key, error.what()));
  };
  try {
    parse(Json::parse(found->second));
  } catch (const Json::exception& error) {
    refuse(error);
  } catch (const std::invalid_argument& error) {
    refuse(error);
  }
}

}  // namespace normlab
