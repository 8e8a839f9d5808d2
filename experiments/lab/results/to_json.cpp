// Results for other programs. Tested by tests/experiments/lab/results/to_json_test.cpp.
#include "experiments/lab/results/json_number.hpp"
#include "experiments/lab/results/results.hpp"

namespace normlab::lab {

namespace {

using Json = nlohmann::ordered_json;

bool in_json(Shown shown) { return shown != Shown::in_text && shown != Shown::in_text_and_on_page; }

// Adds a cell to an object.
struct AddTo {
  Json& object;
  const std::string& key;

  void operator()(std::monostate) const { object[key] = nullptr; }
  void operator()(double value) const { object[key] = json_number(value); }
  void operator()(const std::vector<double>& values) const { object[key] = json_numbers(values); }
  void operator()(const Spread& spread) const {
    object[key] = {{"median", json_number(spread.median)},
                   {"min", json_number(spread.smallest)},
                   {"max", json_number(spread.largest)}};
  }
  void operator()(const Estimate& estimate) const {
    object[key] = json_number(estimate.mean);
    object[key + "_standard_error"] = json_number(estimate.error);
  }
  template <typename T>
  void operator()(const T& value) const {
    object[key] = value;
  }
};

void add(Json& object, const std::string& key, const Cell& cell) {
  std::visit(AddTo{object, key}, cell);
}

void add_rows(Json& list, const Table& table) {
  for (const Row& row : table.rows) {
    Json object = Json::object();
    for (const auto& [key, cell] : table.common) add(object, key, cell);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (in_json(table.columns[i].shown)) add(object, table.columns[i].key, row[i]);
    }
    list.push_back(std::move(object));
  }
}

}  // namespace

std::string to_json(const Results& results) {
  Json config = Json::object(), tables = Json::object();
  for (const Setting& setting : results.config) add(config, setting.key, setting.value);
  for (const Table& table : results.tables) {
    check_table(table);
    if (!in_json(table.shown)) continue;
    if (!tables.contains(table.key)) tables[table.key] = Json::array();
    add_rows(tables[table.key], table);
  }
  const Json document = {{"experiment", results.experiment},
                         {"version", NORMLAB_VERSION},
                         {"config", config},
                         {"tables", tables}};
  return document.dump(1) + "\n";
}

}  // namespace normlab::lab
