// What gradient_flow prints, and its JSON. Tested by
// tests/experiments/gradient_flow/gradient_flow_test.cpp.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/lab/results/json_number.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_report.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 11;

std::string row_of(const FlowRecord& record) {
  const std::size_t last = record.stream.size() - 1, middle = last / 2;
  std::string row = fmt::format("{:>5} {:>8.2e} {:>7.3g}", record.step, record.rate, record.loss);
  for (const auto* list : {&record.w2_grad_norm, &record.w2_update_ratio}) {
    for (const std::size_t block : {std::size_t{0}, middle, last}) {
      row += fmt::format(" {:>7.2g}", (*list)[block]);
    }
  }
  return row + fmt::format(" {:>7.3g}\n", record.stream[last]);
}

std::string table_of(const GradientFlowOptions& options, const Flow& flow) {
  std::string text = fmt::format(
      "\n{}, {}\n"
      "                       gradient of W2, block  update / weight, block   stream\n"
      " step     rate    loss {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
      title(flow.placement),
      flow.warmup == 0 ? "no warmup" : fmt::format("warmup of {} steps", flow.warmup), 1,
      (options.layers - 1) / 2 + 1, options.layers, 1, (options.layers - 1) / 2 + 1, options.layers,
      options.layers);
  const std::size_t stride = (flow.records.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = 0; i < flow.records.size(); ++i) {
    if (i % stride == 0 || i + 1 == flow.records.size()) text += row_of(flow.records[i]);
  }
  if (flow.diverged) text += text_of(*flow.diverged);
  return text;
}

Json json_of(const FlowRecord& record) {
  return {{"step", record.step},
          {"rate", record.rate},
          {"loss", json_number(record.loss)},
          {"w2_grad_norm", json_numbers(record.w2_grad_norm)},
          {"w2_update_ratio", json_numbers(record.w2_update_ratio)},
          {"stream_sq_norm_per_d", json_numbers(record.stream)}};
}

Json json_of(const Flow& flow) {
  Json records = Json::array();
  for (const FlowRecord& each : flow.records) records.push_back(json_of(each));
  return {{"placement", name(flow.placement)},
          {"warmup", flow.warmup},
          {"records", records},
          {"diverged", json_of(flow.diverged)}};
}

}  // namespace

std::string text_of(const GradientFlowResult& result) {
  const GradientFlowOptions& options = result.options;
  std::string text = fmt::format(
      "normlab {} | digits, {} layers of width {}, {}\n"
      "{} with peak rate {:g}, seed {}\n"
      "gradient: ||dLoss/dW2||   update / weight: ||change of W2|| / ||W2||\n"
      "stream: mean |x|^2/d of what enters the block\n",
      NORMLAB_VERSION, options.layers, options.width, options.norm, options.optimizer, options.rate,
      options.seed);
  for (const Flow& flow : result.flows) text += table_of(options, flow);
  return text;
}

std::string json_of(const GradientFlowResult& result) {
  const GradientFlowOptions& o = result.options;
  Json flows = Json::array();
  for (const Flow& each : result.flows) flows.push_back(json_of(each));
  const Json document = {{"experiment", "gradient_flow"},
                         {"version", NORMLAB_VERSION},
                         {"config",
                          {{"norm", o.norm},
                           {"layers", o.layers},
                           {"width", o.width},
                           {"batch_size", o.batch_size},
                           {"optimizer", o.optimizer},
                           {"lr", o.rate},
                           {"steps", o.steps},
                           {"every", o.every},
                           {"seed", o.seed}}},
                         {"flows", flows}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
