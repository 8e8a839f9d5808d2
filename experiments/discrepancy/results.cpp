// The tables of discrepancy. All fit 80 columns at three depths.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/discrepancy/summary.hpp"

namespace normlab {

namespace {

std::string number(double value, int decimals) {
  return std::isnan(value) ? "" : fmt::format("{:.{}f}", value, decimals);
}

std::string with_error(const Estimate& e) {
  if (std::isnan(e.mean)) return "";
  return !std::isfinite(e.error) ? number(e.mean, 2)
                                 : fmt::format("{:.2f} +- {:.2f}", e.mean, e.error);
}

std::string rung_lines(const DiscrepancyOptions& options) {
  std::string text = fmt::format("{:<24} setting\n", "rung");
  for (const Rung& rung : options.rungs) {
    text += fmt::format("{:<24} {}{}\n", rung.name, rung.base.empty() ? "" : rung.base + ", but ",
                        rung.change);
  }
  return text;
}

std::string effect_table(const std::vector<RungSummary>& summaries, Placement placement,
                         std::int64_t profile_layers) {
  std::string text = fmt::format(
      "{}-norm: exponent of the last W2's gradient norm in depth; last/first layer's\n"
      "norm of {} layers; what the change does to each (+- standard error over seeds)\n"
      "{:<24}{:>14}{:>14}{:>14}{:>14}\n",
      name(placement), profile_layers, "rung", "exponent", "change", "top/bottom", "factor");
  for (const RungSummary& s : summaries) {
    if (s.placement != placement) continue;
    text += fmt::format("{:<24}{:>14}{:>14}{:>14}{:>14}\n", s.rung.name, with_error(s.exponent),
                        with_error(s.exponent_change), with_error(s.top_bottom),
                        with_error(s.top_bottom_factor));
  }
  return text;
}

std::string last_layer_table(const std::vector<RungSummary>& summaries, Placement placement,
                             const std::vector<std::int64_t>& layers) {
  std::string text = fmt::format(
      "{}-norm, last layer: gradient norm of W2; at the deepest, shares of its square\n"
      "(of each token by itself, of pairs in a sequence, of pairs across sequences) and\n"
      "cosine similarity of two tokens (in a sequence, across) entering the last block\n"
      "{:<24}",
      name(placement), "rung");
  for (const std::int64_t depth : layers) text += fmt::format("{:>8}", fmt::format("L={}", depth));
  text += "   self  same across   cos   cos\n";
  for (const RungSummary& s : summaries) {
    if (s.placement != placement) continue;
    text += fmt::format("{:<24}", s.rung.name);
    for (const Estimate& norm : s.last_norm) text += fmt::format(" {:7.3g}", norm.mean);
    text += fmt::format("{:7.2f}{:6.2f}{:7.2f}{:>6}{:>6}\n", s.self, s.same_sequence,
                        s.across_sequences, number(s.similarity_within, 3),
                        number(s.similarity_across, 3));
  }
  return text;
}

}  // namespace

std::string text_of(const DiscrepancyResult& result) {
  const DiscrepancyOptions& options = result.options;
  const std::vector<RungSummary> summaries = summarize(result);
  const auto large =
      std::min<std::size_t>(static_cast<std::size_t>(options.large_seeds), options.seeds.size());
  std::string text = fmt::format(
      "normlab {} | depths {} | seeds {} (width 256 and more: the first {})\n\n", NORMLAB_VERSION,
      fmt::join(options.layers, " "), fmt::join(options.seeds, " "), large);
  text += rung_lines(options);
  for (const Placement placement : {Placement::post, Placement::pre}) {
    text += fmt::format("\n{}", last_layer_table(summaries, placement, options.layers));
  }
  for (const Placement placement : {Placement::post, Placement::pre}) {
    text += fmt::format("\n{}", effect_table(summaries, placement, options.profile_layers()));
  }
  return text;
}

}  // namespace normlab
