// How the claims are shown: as text and as JSON.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/results/wrapped.hpp"
#include "experiments/lab/results/json_number.hpp"
#include "experiments/lemmas/verdict.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

std::string heading(const LemmaOptions& options) {
  const MeanFieldSetting& s = options.setting;
  return fmt::format(
      "normlab {} | lemmas of Xiong et al. (2020), simplified setting\n"
      "d = ffn = {} where the depth varies, L = {} where the width varies\n"
      "{} tokens x {} sequences, correlation {:g} within, {} classes, seeds 0 to {}\n",
      NORMLAB_VERSION, s.width, kDepthOfWidths, s.tokens, s.sequences, s.input.within, s.classes,
      options.seeds - 1);
}

std::string norms_table(const LemmaResult& result, bool in_depth) {
  const LemmaOptions& options = result.options;
  std::string text = fmt::format(
      "\n||dLoss/dW2|| of the last layer against the {}: theory, root mean square\n"
      "over seeds (standard error){}\n{:>4}",
      in_depth ? "depth L" : "width d",
      in_depth ? "" : "; delta: share of tokens whose |x|^2 is > 10 % off", in_depth ? "L" : "d");
  for (const char* placement : {"post", "pre"}) text += fmt::format("  {:<23}", placement);
  for (const char* placement : {"post", "pre"}) {
    if (!in_depth) text += fmt::format("  delta {:<5}", placement);
  }
  text += "\n";
  for (std::int64_t value : in_depth ? options.depths : options.widths) {
    text += fmt::format("{:4}", value);
    for (Placement placement : {Placement::post, Placement::pre}) {
      const LastGradient at = last_gradient_at(result, placement, in_depth, value);
      text += fmt::format("  {:7.3f} {:7.3f} ({:.3f})", at.theory, at.simulated.mean,
                          at.simulated.error);
    }
    for (Placement placement : {Placement::post, Placement::pre}) {
      if (in_depth) continue;
      const Estimate share = share_outside(result, placement, value);
      text += fmt::format("  {:.2f} ({:.2f})", share.mean, share.error);
    }
    text += "\n";
  }
  return text;
}

Json json_of(const LemmaCell& cell) {
  std::vector<double> stream;
  for (const BlockMoments& block : cell.measured.blocks) stream.push_back(block.after_ffn.same);
  return {{"placement", name(cell.placement)},
          {"layers", cell.layers},
          {"width", cell.width},
          {"seed", cell.seed},
          {"w2_last_norm", json_number(cell.last_w2())},
          {"after_ffn", json_numbers(stream)},
          {"last_sizes", json_numbers(cell.measured.last_sizes)}};
}

Json json_of(const Claim& claim) {
  return {{"title", claim.title},
          {"statement", claim.statement},
          {"measured", json_number(claim.measured.mean)},
          {"standard_error", json_number(claim.measured.error)},
          {"low", json_number(claim.low)},
          {"high", json_number(claim.high)},
          {"margin", json_number(claim.margin)},
          {"theory", std::isnan(claim.theory) ? Json() : json_number(claim.theory)},
          {"must_hold", claim.must_hold},
          {"miss", json_number(claim.miss())},
          {"holds", claim.holds()}};
}

}  // namespace

std::string measured_text(const Claim& claim) {
  return fmt::format("{:.4f} +- {:.4f}", claim.measured.mean, claim.measured.error);
}

std::string claimed_text(const Claim& claim) {
  if (claim.low == claim.high) return fmt::format("{:.4g}", claim.low);
  if (std::isinf(claim.low)) return fmt::format("at most {:.4g}", claim.high);
  return fmt::format("{:.4g} to {:.4g}", claim.low, claim.high);
}

std::string verdict_text(const Claim& claim) {
  if (claim.holds()) {
    return claim.miss() == 0.0 ? "holds" : fmt::format("holds, {:.2g} off", claim.miss());
  }
  return fmt::format("does not hold here, by {:.3g}", claim.miss());
}

LastGradient last_gradient_at(const LemmaResult& result, Placement placement, bool in_depth,
                              std::int64_t value) {
  const std::int64_t layers = in_depth ? value : kDepthOfWidths;
  const std::int64_t width = in_depth ? result.options.setting.width : value;
  LastGradient at;
  const auto cells =
      cells_of(in_depth ? result.by_depth : result.by_width, placement, layers, width);
  for (const LemmaCell* cell : cells) at.seeds.push_back(cell->last_w2());
  std::vector<double> squares;
  for (double norm : at.seeds) squares.push_back(norm * norm);
  at.simulated = root_mean(squares);
  at.theory = cells.front()->expected_last_w2;
  return at;
}

std::string text_of(const LemmaResult& result) {
  std::string text = heading(result.options);
  for (const Claim& claim : result.claims) {
    text += fmt::format("\n{}\n{}  measured {}  claimed {}", claim.title, wrapped(claim.statement),
                        measured_text(claim), claimed_text(claim));
    if (!std::isnan(claim.theory)) text += fmt::format("  mean-field {:.4f}", claim.theory);
    text += fmt::format("\n  -> {}\n", verdict_text(claim));
  }
  return text + norms_table(result, true) + norms_table(result, false);
}

std::string json_of(const LemmaResult& result) {
  const MeanFieldSetting& s = result.options.setting;
  Json claims = Json::array(), by_depth = Json::array(), by_width = Json::array();
  for (const Claim& each : result.claims) claims.push_back(json_of(each));
  for (const LemmaCell& each : result.by_depth) by_depth.push_back(json_of(each));
  for (const LemmaCell& each : result.by_width) by_width.push_back(json_of(each));
  const Json document = {{"experiment", "lemmas"},
                         {"version", NORMLAB_VERSION},
                         {"config",
                          {{"width", s.width},
                           {"tokens", s.tokens},
                           {"sequences", s.sequences},
                           {"input_correlation", s.input.within},
                           {"classes", s.classes},
                           {"layers", result.options.depths},
                           {"widths", result.options.widths},
                           {"layers_of_widths", kDepthOfWidths},
                           {"seeds", result.options.seeds}}},
                         {"claims", claims},
                         {"by_depth", by_depth},
                         {"by_width", by_width}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
