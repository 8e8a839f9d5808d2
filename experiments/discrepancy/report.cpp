// The page of discrepancy. Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/discrepancy/summary.hpp"

namespace normlab {

namespace {

std::string with_error(const Estimate& e) {
  if (std::isnan(e.mean)) return "";
  return !std::isfinite(e.error) ? fmt::format("{:.2f}", e.mean)
                                 : fmt::format("{:.2f} ± {:.2f}", e.mean, e.error);
}

Table rung_table(const DiscrepancyResult& result) {
  Table table{"The rungs", {"rung", "changes", "what"}, {}};
  for (const Rung& rung : result.options.rungs) {
    table.rows.push_back({rung.name, rung.base, rung.change});
  }
  return table;
}

Table effect_table(const std::vector<RungSummary>& summaries, Placement placement) {
  Table table{fmt::format("{}-norm: what each change does (mean ± standard error over seeds)",
                          name(placement)),
              {"rung", "exponent in depth", "change", "top/bottom", "factor"},
              {}};
  for (const RungSummary& s : summaries) {
    if (s.placement != placement) continue;
    table.rows.push_back({s.rung.name, with_error(s.exponent), with_error(s.exponent_change),
                          with_error(s.top_bottom), with_error(s.top_bottom_factor)});
  }
  return table;
}

Table last_layer_table(const std::vector<RungSummary>& summaries, Placement placement,
                       const std::vector<std::int64_t>& layers) {
  Table table{fmt::format("{}-norm: the last layer", name(placement)), {"rung"}, {}};
  for (const std::int64_t depth : layers) {
    table.header.push_back(fmt::format("gradient norm at {} layers", depth));
  }
  for (const char* column : {"share: self", "same sequence", "across sequences",
                             "cosine: same sequence", "across sequences"}) {
    table.header.emplace_back(column);
  }
  for (const RungSummary& s : summaries) {
    if (s.placement != placement) continue;
    std::vector<std::string> row{s.rung.name};
    for (const Estimate& norm : s.last_norm) row.push_back(fmt::format("{:.4g}", norm.mean));
    for (double value :
         {s.self, s.same_sequence, s.across_sequences, s.similarity_within, s.similarity_across}) {
      row.push_back(fmt::format("{:.3f}", value));
    }
    table.rows.push_back(row);
  }
  return table;
}

std::vector<std::string> what_to_look_for() {
  return {
      "Depth: tokens of all sequences become alike as they pass through blocks, and where the "
      "untrained classifier prefers some classes, alike tokens push W2 in one direction. If that "
      "is why post-norm's last gradient grows with depth, it must stop growing where either "
      "factor is taken away: many classes with a label per token, or logits near zero.",
      "Labels: if it were that all tokens of an image share a label, a label per token alone would "
      "stop the growth.",
      "Layers: if the flat profile is due to self-attention, which hands the mean gradient on "
      "undiminished, only a branch that reads another stream can bring a slope.",
  };
}

}  // namespace

Report report_of(const DiscrepancyResult& result, const std::string& command) {
  const DiscrepancyOptions& options = result.options;
  const std::vector<RungSummary> summaries = summarize(result);
  Report report{
      "What separates the article's measurement from the paper's",
      command,
      {{"normlab", NORMLAB_VERSION},
       {"depths", fmt::format("{}", fmt::join(options.layers, ", "))},
       {"depth of the profile", std::to_string(options.profile_layers())},
       {"seeds", fmt::format("{}", fmt::join(options.seeds, ", "))},
       {"of these for width 256 and more", fmt::format("the first {}", options.large_seeds)}},
      what_to_look_for(),
      figures_of(result),
      {}};
  for (const Placement placement : {Placement::post, Placement::pre}) {
    report.tables.push_back(effect_table(summaries, placement));
    report.tables.push_back(last_layer_table(summaries, placement, options.layers));
  }
  report.tables.push_back(rung_table(result));
  return report;
}

}  // namespace normlab
