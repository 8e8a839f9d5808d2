// The JSON of discrepancy. Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "experiments/discrepancy/discrepancy.hpp"
#include "experiments/lab/results/json_number.hpp"

namespace normlab {

using Json = nlohmann::ordered_json;

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

namespace {

Json config_of(const DiscrepancyOptions& options) {
  Json rungs = Json::array();
  for (const Rung& rung : options.rungs) {
    rungs.push_back({{"name", rung.name},
                     {"base", rung.base},
                     {"change", rung.change},
                     {"seeds", options.seeds_of(rung)},
                     {"setting", json_of(rung.setting)}});
  }
  return {{"layers", options.layers}, {"rungs", rungs}};
}

}  // namespace

Json key_of(const DiscrepancyCell& cell) {
  return {{"rung", cell.rung},
          {"placement", name(cell.placement)},
          {"layers", cell.layers},
          {"seed", cell.seed}};
}

Json json_of(const DiscrepancyMeasurement& m) {
  return {{"loss", json_number(m.loss)},
          {"w2_grad_norm", json_numbers(m.w2_grad_norm)},
          {"square", json_numbers(m.square)},
          {"self", json_numbers(m.self)},
          {"same_sequence", json_numbers(m.same_sequence)},
          {"similarity_within", json_numbers(m.similarity_within)},
          {"similarity_across", json_numbers(m.similarity_across)}};
}

DiscrepancyMeasurement discrepancy_from(const Json& json, std::int64_t layers) {
  try {
    DiscrepancyMeasurement m{number_from(json.at("loss")),
                             numbers_from(json.at("w2_grad_norm")),
                             numbers_from(json.at("square")),
                             numbers_from(json.at("self")),
                             numbers_from(json.at("same_sequence")),
                             numbers_from(json.at("similarity_within")),
                             numbers_from(json.at("similarity_across"))};
    for (const auto* list : {&m.w2_grad_norm, &m.square, &m.self, &m.same_sequence}) {
      if (list->size() == static_cast<std::size_t>(layers)) continue;
      throw std::runtime_error("no measurement of discrepancy: not one number per layer");
    }
    return m;
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("no measurement of discrepancy: ") + error.what());
  }
}

std::string json_of(const DiscrepancyResult& result) {
  Json cells = Json::array();
  for (const DiscrepancyResult::Cell& each : result.cells) {
    Json cell = key_of(each.cell);
    cell.update(json_of(each.measured));
    cells.push_back(cell);
  }
  const Json document = {{"experiment", "discrepancy"},
                         {"version", NORMLAB_VERSION},
                         {"config", config_of(result.options)},
                         {"cells", cells}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
