// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/measurement.hpp"

#include <stdexcept>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"

namespace normlab::discrepancy {

using Json = nlohmann::ordered_json;

namespace {

using Value = std::variant<std::string, std::int64_t, double, bool>;

struct SetupField {
  const char* key;
  Value (*value)(const Setup&);
};
constexpr SetupField kSetupFields[] = {
    {"source", [](const Setup& s) -> Value { return name(s.source); }},
    {"labels", [](const Setup& s) -> Value { return name(s.labels); }},
    {"sequences", [](const Setup& s) -> Value { return s.sequences; }},
    {"tokens", [](const Setup& s) -> Value { return s.tokens; }},
    {"mini_batches", [](const Setup& s) -> Value { return s.mini_batches; }},
    {"classes", [](const Setup& s) -> Value { return s.classes; }},
    {"width", [](const Setup& s) -> Value { return s.width; }},
    {"heads", [](const Setup& s) -> Value { return s.heads; }},
    {"ffn", [](const Setup& s) -> Value { return s.ffn(); }},
    {"zero_query_key", [](const Setup& s) -> Value { return s.zero_query_key; }},
    {"logit_deviation", [](const Setup& s) -> Value { return s.logit_deviation; }},
    {"label_smoothing", [](const Setup& s) -> Value { return s.label_smoothing; }},
    {"dropout", [](const Setup& s) -> Value { return s.dropout; }},
    {"embedding_norm", [](const Setup& s) -> Value { return s.embedding_norm; }},
    {"cross_attention", [](const Setup& s) -> Value { return s.cross_attention; }}};

struct List {
  const char* key;
  std::vector<double> Measurement::*list;
  std::int64_t more_than_layers;
};
constexpr List kLists[] = {{"w2_grad_norm", &Measurement::w2_grad_norm, 0},
                           {"square", &Measurement::square, 0},
                           {"self", &Measurement::self, 0},
                           {"same_sequence", &Measurement::same_sequence, 0},
                           {"similarity_within", &Measurement::similarity_within, 1},
                           {"similarity_across", &Measurement::similarity_across, 1}};

const Json& value_at(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) {
    throw std::runtime_error(std::string("measurement: there is no ") + key);
  }
  return json.at(key);
}

}  // namespace

std::vector<lab::Column> setup_columns() {
  std::vector<lab::Column> columns;
  for (const SetupField& field : kSetupFields) {
    columns.push_back({.key = field.key, .title = field.key, .shown = lab::Shown::in_json});
  }
  return columns;
}

lab::Row setup_cells(const Setup& setup) {
  lab::Row row;
  for (const SetupField& field : kSetupFields) {
    std::visit([&](const auto& value) { row.emplace_back(value); }, field.value(setup));
  }
  return row;
}

Json json_of(const Setup& setup) {
  Json json = Json::object();
  for (const SetupField& field : kSetupFields) {
    std::visit([&](const auto& value) { json[field.key] = value; }, field.value(setup));
  }
  return json;
}

std::vector<lab::Column> measurement_columns() {
  std::vector<lab::Column> columns{{"loss", "loss"}};
  for (const List& list : kLists) columns.push_back({list.key, list.key});
  return columns;
}

lab::Row measurement_cells(const Measurement& measurement) {
  lab::Row row{measurement.loss};
  for (const List& list : kLists) row.emplace_back(measurement.*list.list);
  return row;
}

Json json_of(const Measurement& measurement) {
  Json json = {{"loss", json_number(measurement.loss)}};
  for (const List& list : kLists) json[list.key] = json_numbers(measurement.*list.list);
  return json;
}

Measurement measurement_from(const Json& json, std::int64_t layers) {
  Measurement measurement;
  measurement.loss = number_from(value_at(json, "loss"));
  for (const List& list : kLists) {
    std::vector<double>& values = measurement.*list.list;
    values = numbers_from(value_at(json, list.key));
    const auto expected = static_cast<std::size_t>(layers + list.more_than_layers);
    if (values.size() == expected) continue;
    throw std::runtime_error("measurement: " + std::string(list.key) + " must have " +
                             std::to_string(expected) + " numbers, got " +
                             std::to_string(values.size()));
  }
  return measurement;
}

}  // namespace normlab::discrepancy
