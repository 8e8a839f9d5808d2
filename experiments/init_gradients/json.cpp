
#include <nlohmann/json.hpp>

#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/untrained/gradient_json.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

Json config_of(const InitGradientsOptions& options) {
  Json scales = Json::array(), placements = Json::array();
  for (const InputScale& scale : options.scales) {
    scales.push_back({{"name", scale.name}, {"value", scale.value}});
  }
  for (Placement placement : options.placements) placements.push_back(name(placement));
  return {{"width", options.model.d_model},
          {"heads", options.model.nhead},
          {"ffn", options.model.dim_feedforward},
          {"norm", options.model.norm},
          {"images", options.images},
          {"seeds", options.seeds},
          {"layers", options.layers},
          {"profile_layers", options.profile_layers},
          {"input_scales", scales},
          {"placements", placements}};
}

Json cell_of(const MeasuredCell& each) {
  Json cell = {{"layers", each.cell.layers},
               {"placement", name(each.cell.placement)},
               {"seed", each.cell.seed},
               {"scale", each.cell.scale}};
  cell.update(json_of(each.measured));
  return cell;
}

}  // namespace

std::string json_of(const InitGradientsResult& result) {
  Json cells = Json::array();
  for (const MeasuredCell& each : result.cells) cells.push_back(cell_of(each));
  const Json document = {{"experiment", "init_gradients"},
                         {"version", NORMLAB_VERSION},
                         {"config", config_of(result.options)},
                         {"cells", cells}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
