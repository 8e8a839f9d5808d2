#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"
#include "tests/experiments/lab/results/results_samples.hpp"

using namespace normlab;
using namespace normlab::lab;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Results& results) { return Json::parse(to_json(results)); }

}  // namespace

TEST_CASE("to_json: one object with experiment, version, configuration and tables") {
  const Json document = json_of(sample_results());
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"experiment", "version", "config", "tables"});
  CHECK(document["experiment"] == "sizes");
  CHECK(document["config"] == Json{{"width", 8}, {"seeds", {0, 1}}});
  CHECK(to_json(sample_results()).ends_with("}\n"));
}

TEST_CASE("to_json: a row is an object of its columns' keys, in their order") {
  const Json rows = json_of(sample_results())["tables"]["sizes"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].dump() == R"({"norm":"layernorm","layers":3,"size":1.005,)"
                          R"("ratio":{"median":2.5,"min":2.25,"max":4.75},)"
                          R"("slope":-0.25,"slope_standard_error":0.5})");
  CHECK(rows[1].dump() == R"({"norm":"dyt","layers":12,"size":"nan",)"
                          R"("ratio":{"median":"nan","min":"nan","max":"nan"},"slope":null})");
}

TEST_CASE("to_json: every double is read back bit for bit, and those not finite are named") {
  const std::vector<double> values{0.1 + 0.2, 1.0 / 3.0, 5e-324,    1.7976931348623157e308,
                                   -0.0,      kInfinity, -kInfinity};
  Results results;
  results.tables = {{.key = "t", .title = "", .columns = {{"list", ""}, {"one", ""}}}};
  for (double value : values) results.tables[0].rows.push_back({values, value});
  const Json rows = json_of(results)["tables"]["t"];
  CHECK(numbers_from(rows[0]["list"]) == values);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(number_from(rows[i]["one"]) == values[i]);
  CHECK(rows[5]["one"] == "inf");
  CHECK(rows[6]["one"] == "-inf");
  CHECK(std::signbit(number_from(rows[4]["one"])));
}

TEST_CASE(
    "to_json: tables of one key are one list, and common fields stand in each of their rows") {
  Results results = sample_results();
  results.tables[0].common = {{"placement", "post"}, {"depth", std::int64_t{12}}};
  results.tables.push_back(results.tables[0]);
  results.tables[1].common = {{"placement", "pre"}};
  const Json rows = json_of(results)["tables"]["sizes"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[1]["placement"] == "post");
  CHECK(rows[1]["depth"] == 12);
  CHECK(rows[2]["placement"] == "pre");
  CHECK(rows[2]["norm"] == "layernorm");
}

TEST_CASE("to_json: what is for the text alone is left out, all else is there") {
  Results results = sample_results();
  results.tables[0].columns[0].shown = Shown::in_text;
  results.tables[0].columns[1].shown = Shown::in_json;
  results.tables[0].columns[2].shown = Shown::on_page_and_in_json;
  Table more = results.tables[0];
  more.key = "words";
  more.shown = Shown::in_text;
  results.tables.push_back(more);
  more.key = "points";
  more.shown = Shown::in_json;
  results.tables.push_back(more);
  const Json tables = json_of(results)["tables"];
  CHECK_FALSE(tables.contains("words"));
  CHECK(tables["points"].size() == 2);
  CHECK_FALSE(tables["sizes"][0].contains("norm"));
  CHECK(tables["sizes"][0].contains("layers"));
  CHECK(tables["sizes"][0].contains("size"));
}

TEST_CASE("to_json: a table without rows is an empty list") {
  Results results;
  results.tables = {{.key = "t", .title = "", .columns = {{"x", "x"}}}};
  CHECK(json_of(results)["tables"]["t"] == Json::array());
}
