#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"
#include "experiments/mean_field/summary.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const PairMoments& moments) {
  return {{"same", json_number(moments.same)},
          {"within", json_number(moments.within)},
          {"across", json_number(moments.across)}};
}

Json json_of(const std::vector<BlockMoments>& blocks) {
  Json list = Json::array();
  for (const BlockMoments& each : blocks) {
    list.push_back({{"input", json_of(each.input)},
                    {"after_attention", json_of(each.after_attention)},
                    {"after_ffn", json_of(each.after_ffn)}});
  }
  return list;
}

Json json_of(const SquaredNorms& norms) {
  Json lists;
  for (const auto& [key, list] :
       {std::pair{"w1_sq_norm", &norms.w1}, std::pair{"w2_sq_norm", &norms.w2},
        std::pair{"wv_sq_norm", &norms.wv}}) {
    lists[key] = Json::array();
    for (double each : *list) lists[key].push_back(json_number(each));
  }
  return lists;
}

Json json_of(const PlacementComparison& comparison) {
  Json seeds = Json::array();
  for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
    const MeanFieldMeasurement& m = comparison.measured[seed];
    seeds.push_back(
        {{"seed", seed},
         {"input", json_of(m.input)},
         {"blocks", json_of(m.blocks)},
         {"output_gradient", json_of(m.output_gradient)},
         {"gradients", json_of(m.gradients)},
         {"expected_from_output_gradient", json_of(comparison.expected_from_measured[seed])}});
  }
  return {{"placement", name(comparison.setting.placement)},
          {"theory",
           {{"input", json_of(comparison.setting.input)},
            {"blocks", json_of(comparison.blocks)},
            {"output_gradient", json_of(comparison.output_gradient)},
            {"gradients", json_of(comparison.expected)}}},
          {"seeds", seeds}};
}

}  // namespace

std::string json_of(const MeanFieldResult& result) {
  const MeanFieldSetting& s = result.placements.front().setting;
  const bool article = result.options.network == MeanFieldOptions::Network::article;
  Json placements = Json::array();
  for (const PlacementComparison& each : result.placements) placements.push_back(json_of(each));
  const Json document = {{"experiment", "mean_field"},
                         {"version", NORMLAB_VERSION},
                         {"config",
                          {{"network", article ? "article" : "simplified"},
                           {"layers", s.layers},
                           {"width", s.width},
                           {"ffn", s.ffn},
                           {"tokens", s.tokens},
                           {"sequences", s.sequences},
                           {"classes", s.classes},
                           {"one_label_per_sequence", s.one_label_per_sequence},
                           {"seeds", result.options.seeds}}},
                         {"broken_assumptions", broken_assumptions(result.options)},
                         {"placements", placements}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
