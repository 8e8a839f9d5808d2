// Tested by tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/lab/training/training_json.hpp"

#include <concepts>
#include <stdexcept>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/json/strict_json.hpp"
#include "experiments/lab/results/json_number.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

template <typename T, typename Record>
concept Of = std::same_as<std::remove_const_t<T>, Record>;

// Calls visit(column, field) for each field. All that is written, read and shown of a record is
// made from these lists.
template <Of<TrainingOptions> T, typename Visit>
void visit_fields(T& options, Visit visit) {
  visit("dropout", options.dropout);
  visit("optimizer", options.optimizer);
  visit("lr", options.lr);
  visit("schedule", options.schedule);
  visit("warmup", options.warmup);
  visit("epochs", options.epochs);
  visit("batch_size", options.batch_size);
  visit("clip", options.clip);
  visit("seed", options.seed);
}

template <Of<EpochRecord> T, typename Visit>
void visit_fields(T& record, Visit visit) {
  using C = lab::Column;
  visit(C{"epoch", "epoch"}, record.epoch);
  visit(C{"step", "step", "", "the epoch's last"}, record.step);
  visit(C{"lr", "rate", ".3e", "learning rate of that step"}, record.lr);
  visit(C{"train_loss", "train loss", ".4f", "over the epoch, each batch before its update"},
        record.train_loss);
  visit(C{"train_accuracy", "train %", ".2%", "predictions that are right, measured likewise"},
        record.train_accuracy);
  visit(C{"grad_norm", "gradient", ".3g", "mean of its norm over the epoch, before clipping"},
        record.grad_norm);
  visit(C{"test_loss", "test loss", ".4f", "after the epoch, without dropout and smoothing"},
        record.test_loss);
  visit(C{"test_accuracy", "test %", ".2%"}, record.test_accuracy);
}

template <Of<Divergence> T, typename Visit>
void visit_fields(T& divergence, Visit visit) {
  using C = lab::Column;
  visit(C{"step", "step"}, divergence.step);
  visit(C{"loss", "loss"}, divergence.loss);
  visit(C{"grad_norm", "gradient norm"}, divergence.grad_norm);
  visit(C{"origin", "origin"}, divergence.origin);
}

const std::string& key_of(const lab::Column& column) { return column.key; }
std::string key_of(const char* key) { return key; }

Json to_json(double value) { return json_number(value); }
template <typename T>
Json to_json(const T& value) {
  return value;
}

void read(const Json& json, double& value) { value = number_from(json); }
void read(const Json& json, std::string& value) { json.get_to(value); }
void read(const Json& json, std::int64_t& value) {
  if (!json.is_number_integer()) throw std::runtime_error("not a whole number: " + json.dump());
  json.get_to(value);
}

template <typename T>
Json written(const T& record) {
  Json json = Json::object();
  visit_fields(record, [&](const auto& column, const auto& value) {
    json[key_of(column)] = to_json(value);
  });
  return json;
}

template <typename T>
T parsed(const Json& json) {
  T record;
  visit_fields(record,
               [&](const auto& column, auto& value) { read(json.at(key_of(column)), value); });
  return record;
}

}  // namespace

Json json_of(const TrainingOptions& options) { return written(options); }
Json json_of(const EpochRecord& record) { return written(record); }
EpochRecord epoch_from(const Json& json) { return parsed<EpochRecord>(json); }

Json json_of(const TrainingResult& result) {
  Json epochs = Json::array();
  for (const EpochRecord& record : result.epochs) epochs.push_back(json_of(record));
  return {{"epochs", epochs},
          {"diverged", result.diverged ? written(*result.diverged) : Json(nullptr)}};
}

TrainingResult training_from(const Json& json) {
  TrainingResult result;
  for (const Json& record : json.at("epochs")) result.epochs.push_back(epoch_from(record));
  const Json& diverged = json.at("diverged");
  if (!diverged.is_null()) result.diverged = parsed<Divergence>(diverged);
  return result;
}

std::vector<lab::Column> epoch_columns() {
  std::vector<lab::Column> columns;
  const EpochRecord any;
  visit_fields(any, [&](const lab::Column& column, const auto&) { columns.push_back(column); });
  return columns;
}

lab::Row epoch_cells(const EpochRecord& record) {
  lab::Row cells;
  visit_fields(record, [&](const lab::Column&, const auto& value) { cells.emplace_back(value); });
  return cells;
}

std::vector<lab::Column> divergence_columns() {
  std::vector<lab::Column> columns;
  const Divergence any;
  visit_fields(any, [&](lab::Column column, const auto&) {
    column.key = "diverged_" + column.key;
    column.shown = lab::Shown::in_json;
    columns.push_back(std::move(column));
  });
  return columns;
}

lab::Row divergence_cells(const std::optional<Divergence>& divergence) {
  if (!divergence) return lab::Row(divergence_columns().size());
  lab::Row cells;
  visit_fields(*divergence,
               [&](const lab::Column&, const auto& value) { cells.emplace_back(value); });
  return cells;
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
  try {
    parse(parse_json(found->second));
  } catch (const std::exception& error) {
    fail_checkpoint(program, source, fmt::format("its {} cannot be read: {}", key, error.what()));
  }
}

}  // namespace normlab
