// What a training run keeps, so that it can go on bit for bit. Tested by
// tests/experiments/train_digits/train_digits_test.cpp.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "nn/checkpoint/checkpoint.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

// Metadata: the records and the place of the run, as JSON. Its numbers come back bit for bit.
constexpr const char* kPlaceKey = "normlab.training";
const std::string kOptimizer = std::string(kTrainingPrefix) + "optimizer.";
const std::string kDropout = std::string(kTrainingPrefix) + "dropout.";
const std::string kOrder = std::string(kTrainingPrefix) + "order";

}  // namespace

Safetensors Trainer::checkpoint() {
  Safetensors file;
  file.metadata = task_.metadata;
  add_model(file, replicas_.model());
  for (const auto& [name, tensor] : optimizer_.state()) {
    file.tensors.emplace_back(kOptimizer + name, tensor);
  }
  file.tensors.emplace_back(kOrder, order_state_);
  if (options_.dropout > 0.0) {  // else nothing is drawn from them
    std::size_t i = 0;
    for (const Generator* each : dropout_generators()) {
      file.tensors.emplace_back(kDropout + std::to_string(i++), each->state());
    }
  }
  Json records = Json::array();
  for (const EpochRecord& record : epochs_) records.push_back(json_of(record));
  file.metadata[kPlaceKey] = Json{
      {"step", step_},
      {"epoch_loss", epoch_sums_.loss},
      {"epoch_correct", epoch_sums_.correct},
      {"epoch_grad_norm", epoch_sums_.grad_norm},
      {"epochs", records}}.dump();
  return file;
}

void Trainer::restore(const Safetensors& checkpoint, const std::string& source) {
  read_model(checkpoint, replicas_.model(), source);
  try {
    read_place(checkpoint, source);
  } catch (const std::invalid_argument& error) {
    fail_checkpoint(task_.program, source, error.what());
  }
  if (step_ < 1 || step_ > steps() || std::ssize(epochs_) != step_ / steps_per_epoch_) {
    fail_checkpoint(task_.program, source,
                    fmt::format("its step {} is not one of this run", step_));
  }
}

void Trainer::read_place(const Safetensors& checkpoint, const std::string& source) {
  NamedTensors optimizer;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.starts_with(kOptimizer))
      optimizer.emplace_back(name.substr(kOptimizer.size()), tensor);
  }
  optimizer_.load_state(optimizer);
  const auto state = [&](const std::string& name) {
    const Tensor* found = find_tensor(checkpoint.tensors, name);
    if (found == nullptr) fail_checkpoint(task_.program, source, "has no " + name);
    return *found;
  };
  order_generator_.set_state(state(kOrder));
  start_epoch();
  if (options_.dropout > 0.0) {
    std::size_t i = 0;
    for (Generator* each : dropout_generators())
      each->set_state(state(kDropout + std::to_string(i++)));
  }
  read_entry(checkpoint, kPlaceKey, task_.program, source, [&](const Json& place) {
    place.at("step").get_to(step_);
    epoch_sums_ = {place.at("epoch_loss"), place.at("epoch_correct"), place.at("epoch_grad_norm")};
    for (const Json& record : place.at("epochs")) epochs_.push_back(epoch_from(record));
  });
}

}  // namespace normlab
