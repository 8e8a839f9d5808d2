// What a run of train_digits keeps, so that it can go on bit for bit. Tested by
// tests/experiments/train_digits_test.cpp.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "experiments/digits_trainer.hpp"
#include "experiments/train_digits_options.hpp"
#include "nn/checkpoint.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

// Metadata: the options, the records and the place of the run, as JSON. Its numbers come back bit
// for bit.
constexpr const char* kTrainingKey = "normlab.train_digits";
const std::string kOptimizer = std::string(kTrainingPrefix) + "optimizer.";
const std::string kDropout = std::string(kTrainingPrefix) + "dropout.";
const std::string kOrder = std::string(kTrainingPrefix) + "order";

[[noreturn]] void fail_reading(const std::string& source, const std::string& problem) {
  fail_file("train_digits", source, problem, "name a checkpoint that train_digits wrote");
}

Json training_of(const Safetensors& checkpoint, const std::string& source) {
  const auto found = checkpoint.metadata.find(kTrainingKey);
  if (found == checkpoint.metadata.end()) {
    fail_reading(source, fmt::format("has no {} in its metadata", kTrainingKey));
  }
  Json training = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  if (training.is_discarded()) fail_reading(source, "its metadata is not JSON");
  return training;
}

const Tensor& tensor_in(const Safetensors& checkpoint, const std::string& name,
                        const std::string& source) {
  const Tensor* found = find_tensor(checkpoint.tensors, name);
  if (found == nullptr) fail_reading(source, "has no " + name);
  return *found;
}

}  // namespace

TrainDigitsOptions options_in(const Safetensors& checkpoint, const std::string& source) {
  try {
    return parse_options(training_of(checkpoint, source).at("options"));
  } catch (const Json::exception& error) {
    fail_reading(source, fmt::format("its options cannot be read: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    fail_reading(source, fmt::format("its options cannot be read: {}", error.what()));
  }
}

Safetensors DigitsTrainer::checkpoint() {
  Safetensors file;
  add_model(file, replicas_.model());
  for (const auto& [name, tensor] : optimizer_.state()) {
    file.tensors.emplace_back(kOptimizer + name, tensor);
  }
  file.tensors.emplace_back(kOrder, order_state_);
  if (options_.dropout > 0.0) {  // else nobody draws from them
    std::size_t i = 0;
    for (const Generator* each : dropout_generators()) {
      file.tensors.emplace_back(kDropout + std::to_string(i++), each->state());
    }
  }
  Json records = Json::array();
  for (const EpochRecord& each : epochs_) records.push_back(json_of(each));
  file.metadata[kTrainingKey] = Json{
      {"options", json_of(options_)},
      {"step", step_},
      {"epoch_loss", epoch_sums_.loss},
      {"epoch_correct", epoch_sums_.correct},
      {"epoch_grad_norm", epoch_sums_.grad_norm},
      {"epochs", records}}.dump();
  return file;
}

void DigitsTrainer::restore(const Safetensors& checkpoint, const std::string& source) {
  read_model(checkpoint, replicas_.model(), source);
  NamedTensors optimizer;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.starts_with(kOptimizer))
      optimizer.emplace_back(name.substr(kOptimizer.size()), tensor);
  }
  try {
    optimizer_.load_state(optimizer);
    order_generator_.set_state(tensor_in(checkpoint, kOrder, source));
    start_epoch();
    if (options_.dropout > 0.0) {
      std::size_t i = 0;
      for (Generator* each : dropout_generators()) {
        each->set_state(tensor_in(checkpoint, kDropout + std::to_string(i++), source));
      }
    }
    const Json training = training_of(checkpoint, source);
    training.at("step").get_to(step_);
    epoch_sums_ = {training.at("epoch_loss"), training.at("epoch_correct"),
                   training.at("epoch_grad_norm")};
    for (const Json& each : training.at("epochs")) epochs_.push_back(parse_record(each));
  } catch (const Json::exception& error) {
    fail_reading(source, fmt::format("its place in the run cannot be read: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    fail_reading(source, error.what());
  }
  if (step_ < 1 || step_ > steps() || std::ssize(epochs_) != step_ / steps_per_epoch_) {
    fail_reading(source, fmt::format("its step {} is not one of this run", step_));
  }
}

}  // namespace normlab
