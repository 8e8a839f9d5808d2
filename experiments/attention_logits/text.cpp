// The table of attention_logits and its JSON. Tested by
// tests/experiments/attention_logits/attention_logits_test.cpp.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/attention_logits/rows.hpp"
#include "experiments/lab/results/json_number.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

std::string bound_text(double bound) {
  return std::isinf(bound) ? "none" : fmt::format("{:.3g}", bound);
}

Json cell_json(const AttentionLogitsCell& cell) {
  return {{"qk_norm", cell.variant},
          {"scale", json_number(cell.scale)},
          {"seed", cell.seed},
          {"largest_logit", json_number(cell.largest_logit)},
          {"entropy", json_number(cell.entropy)},
          {"one_hot", json_number(cell.one_hot)},
          {"query_key_grad_norm", json_number(cell.query_key_gradient)}};
}

}  // namespace

std::vector<AttentionLogitsRow> rows_of(const AttentionLogitsResult& result) {
  std::vector<AttentionLogitsRow> rows;
  for (const std::string& variant : result.options.variants) {
    for (double scale : result.options.scales) {
      std::vector<double> logit, entropy, one_hot, gradient;
      for (const AttentionLogitsCell& cell : result.cells) {
        if (cell.variant != variant || cell.scale != scale) continue;
        logit.push_back(cell.largest_logit);
        entropy.push_back(cell.entropy);
        one_hot.push_back(cell.one_hot);
        gradient.push_back(cell.query_key_gradient);
      }
      rows.push_back(
          {variant, scale, spread(logit), spread(entropy), spread(one_hot), spread(gradient)});
    }
  }
  return rows;
}

std::string text_of(const AttentionLogitsResult& result) {
  const AttentionLogitsOptions& options = result.options;
  std::string text = fmt::format(
      "normlab {} | width {}, {} heads, {} images, seeds [{}]\n"
      "W_Q and W_K times a scale; medians over seeds\n"
      "entropy of the attention weights / ln T; share of queries with a weight > 0.99\n"
      "gradient: of the mean square of the output by W_Q and W_K\n\n"
      "{:<13} {:>8} {:>14} {:>9} {:>9} {:>9} {:>10}\n",
      NORMLAB_VERSION, options.width, options.heads, options.images, fmt::join(options.seeds, ", "),
      "qk-norm", "scale", "largest logit", "bound", "entropy", "one-hot", "gradient");
  for (const AttentionLogitsRow& row : rows_of(result)) {
    text += fmt::format("{:<13} {:>8g} {:>14.4g} {:>9} {:>9.3f} {:>9.3f} {:>10.2e}\n", row.variant,
                        row.scale, row.largest_logit.median,
                        bound_text(logit_bound(options, row.variant)), row.entropy.median,
                        row.one_hot.median, row.gradient.median);
  }
  return text;
}

std::string json_of(const AttentionLogitsResult& result) {
  const AttentionLogitsOptions& options = result.options;
  Json cells = Json::array(), bounds;
  for (const AttentionLogitsCell& cell : result.cells) cells.push_back(cell_json(cell));
  for (const std::string& variant : options.variants) {
    bounds[variant] = json_number(logit_bound(options, variant));
  }
  const Json document = {{"experiment", "attention_logits"},
                         {"version", NORMLAB_VERSION},
                         {"config",
                          {{"width", options.width},
                           {"heads", options.heads},
                           {"images", options.images},
                           {"qk_norms", options.variants},
                           {"scales", options.scales},
                           {"seeds", options.seeds}}},
                         {"logit_bounds", bounds},
                         {"cells", cells}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
