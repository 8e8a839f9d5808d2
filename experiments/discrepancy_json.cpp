// The lines of discrepancy's file. Tested by tests/experiments/discrepancy_test.cpp.
#include <limits>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "experiments/discrepancy.hpp"
#include "experiments/json_number.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (double value : values) list.push_back(json_number(value));
  return list;
}

// The inverse of json_number.
double number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string text = json.get<std::string>();
  return text == "inf"    ? kInfinity
         : text == "-inf" ? -kInfinity
                          : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> numbers_of(const Json& list) {
  std::vector<double> values;
  for (const Json& each : list) values.push_back(number(each));
  return values;
}

Json json_of(const Setting& s) {
  return {{"source", name(s.source)},
          {"labels", name(s.labels)},
          {"sequences", s.sequences},
          {"tokens", s.tokens},
          {"mini_batches", s.mini_batches},
          {"classes", s.classes},
          {"width", s.width},
          {"heads", s.heads},
          {"ffn", s.ffn()},
          {"zero_query_key", s.zero_query_key},
          {"logit_deviation", s.logit_deviation},
          {"label_smoothing", s.label_smoothing},
          {"dropout", s.dropout},
          {"embedding_norm", s.embedding_norm},
          {"cross_attention", s.cross_attention}};
}

}  // namespace

std::string header_line(const DiscrepancyOptions& options) {
  Json rungs = Json::array();
  for (const Rung& rung : options.rungs) {
    rungs.push_back({{"name", rung.name},
                     {"base", rung.base},
                     {"change", rung.change},
                     {"seeds", options.seeds_of(rung)},
                     {"setting", json_of(rung.setting)}});
  }
  const Json header = {{"experiment", "discrepancy"},
                       {"version", NORMLAB_VERSION},
                       {"layers", options.layers},
                       {"rungs", rungs}};
  return header.dump();
}

std::string line_of(const DiscrepancyResult::Cell& cell) {
  const DiscrepancyMeasurement& m = cell.measured;
  const Json line = {{"rung", cell.cell.rung},
                     {"placement", name(cell.cell.placement)},
                     {"layers", cell.cell.layers},
                     {"seed", cell.cell.seed},
                     {"loss", json_number(m.loss)},
                     {"w2_grad_norm", numbers(m.w2_grad_norm)},
                     {"square", numbers(m.square)},
                     {"self", numbers(m.self)},
                     {"same_sequence", numbers(m.same_sequence)},
                     {"similarity_within", numbers(m.similarity_within)},
                     {"similarity_across", numbers(m.similarity_across)}};
  return line.dump();
}

DiscrepancyResult::Cell parse_cell(const std::string& line, const std::string& source) {
  try {
    const Json json = Json::parse(line);
    const bool pre = json.at("placement").get<std::string>() == name(Placement::pre);
    return {{json.at("rung").get<std::string>(), pre ? Placement::pre : Placement::post,
             json.at("layers").get<std::int64_t>(), json.at("seed").get<std::uint64_t>()},
            {number(json.at("loss")), numbers_of(json.at("w2_grad_norm")),
             numbers_of(json.at("square")), numbers_of(json.at("self")),
             numbers_of(json.at("same_sequence")), numbers_of(json.at("similarity_within")),
             numbers_of(json.at("similarity_across"))}};
  } catch (const Json::exception& error) {
    fail_file("resume", source, std::string("holds a line that is no cell: ") + error.what(),
              "remove the line, or leave out --resume to begin anew");
  }
}

}  // namespace normlab
