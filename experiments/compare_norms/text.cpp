// The table of compare_norms and its JSON. Tested by
// tests/experiments/compare_norms/compare_norms_test.cpp.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/lab/results/json_number.hpp"
#include "experiments/untrained/gradient_json.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

// Two decimals, without a sign on what rounds to zero; a dash where there is no such number.
std::string number(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.2f}", std::abs(value) < 0.005 ? 0.0 : value);
}

std::string with_error(const LineFit& fit) {
  if (std::isnan(fit.slope)) return "-";
  if (std::isinf(fit.slope_error)) return fmt::format("{:.2f}", fit.slope);  // two depths
  return fmt::format("{:.2f}({:.2f})", fit.slope, fit.slope_error);
}

std::string range(const Spread& spread) {
  if (std::isnan(spread.median)) return "-";
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", spread.median, spread.smallest, spread.largest);
}

std::string row_of(const ComparedNorm& row) {
  const bool no_norm = row.placement == Placement::re_zero;
  return fmt::format("{:<12} {:>7.3g} {:>7.3g} {:>20} {:>11} {:>6} {:>5} {:>5.2f}\n",
                     no_norm ? "(no norm)" : row.norm, row.first.median, row.last.median,
                     range(row.ratio), with_error(row.depth), number(row.stream_per_block),
                     number(row.stream_exponent), row.loss.median);
}

Json spread_json(const Spread& spread) {
  return {{"median", json_number(spread.median)},
          {"min", json_number(spread.smallest)},
          {"max", json_number(spread.largest)}};
}

Json summary_json(const ComparedNorm& row) {
  return {{"norm", row.norm},
          {"placement", name(row.placement)},
          {"first_w2_grad_norm", spread_json(row.first)},
          {"last_w2_grad_norm", spread_json(row.last)},
          {"last_over_first", spread_json(row.ratio)},
          {"depth_exponent", json_number(row.depth.slope)},
          {"depth_exponent_standard_error", json_number(row.depth.slope_error)},
          {"stream_per_block", json_number(row.stream_per_block)},
          {"stream_exponent", json_number(row.stream_exponent)},
          {"loss", spread_json(row.loss)}};
}

Json config_of(const CompareNormsOptions& options) {
  Json placements = Json::array();
  for (Placement placement : options.placements) placements.push_back(name(placement));
  return {{"width", options.width},   {"heads", options.heads}, {"ffn", options.ffn},
          {"images", options.images}, {"norms", options.norms}, {"placements", placements},
          {"layers", options.layers}, {"seeds", options.seeds}};
}

}  // namespace

std::string text_of(const CompareNormsResult& result) {
  const CompareNormsOptions& options = result.options;
  std::string text = fmt::format(
      "normlab {} | width {}, {} images, layers [{}], seeds [{}]\n"
      "first, last: ||dLoss/dW2|| of the first and last of {} layers, median over seeds\n"
      "last/first: median [min, max]   last ~ L^p: p(standard error), over all depths\n"
      "stream: |x|^2/d added per block, and q of its growth as (block number)^q\n",
      NORMLAB_VERSION, options.width, options.images, fmt::join(options.layers, ", "),
      fmt::join(options.seeds, ", "),
      *std::max_element(options.layers.begin(), options.layers.end()));
  Placement last{};
  bool first_row = true;
  for (const ComparedNorm& row : result.summary()) {
    if (first_row || row.placement != last) {
      text += fmt::format("\n{}: {}\n{:<12} {:>7} {:>7} {:>20} {:>11} {:>6} {:>5} {:>5}\n",
                          name(row.placement), entry(row.placement).equation, "norm", "first",
                          "last", "last/first", "p", "stream", "q", "loss");
    }
    first_row = false;
    last = row.placement;
    text += row_of(row);
  }
  return text;
}

std::string json_of(const CompareNormsResult& result) {
  Json cells = Json::array(), summary = Json::array();
  for (const ComparedCell& each : result.cells) {
    Json cell = {{"norm", each.norm},
                 {"placement", name(each.cell.placement)},
                 {"layers", each.cell.layers},
                 {"seed", each.cell.seed}};
    cell.update(json_of(each.measured));
    cells.push_back(cell);
  }
  for (const ComparedNorm& row : result.summary()) summary.push_back(summary_json(row));
  const Json document = {{"experiment", "compare_norms"},
                         {"version", NORMLAB_VERSION},
                         {"config", config_of(result.options)},
                         {"summary", summary},
                         {"cells", cells}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
