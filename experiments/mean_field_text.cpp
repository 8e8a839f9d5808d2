// The tables of mean_field: at most 104 columns.
#include <cmath>

#include <fmt/format.h>

#include "experiments/mean_field_summary.hpp"

namespace normlab {

namespace {

std::string heading(const MeanFieldResult& result) {
  const MeanFieldSetting& s = result.placements.front().setting;
  const bool article = result.options.network == MeanFieldOptions::Network::article;
  std::string text = fmt::format(
      "normlab {} | mean_field, {} network | seeds 0 to {}\n"
      "L = {}, d = {}, ffn = {}, {} tokens x {} sequences, {} classes\n"
      "input: |x|^2/d {:.4g}, correlation within a sequence {:.4g}, across {:.4g}\n",
      NORMLAB_VERSION, article ? "the article's" : "simplified", result.options.seeds - 1, s.layers,
      s.width, s.ffn, s.tokens, s.sequences, s.classes, s.input.same, s.input.correlation_within(),
      s.input.correlation_across());
  for (const std::string& each : broken_assumptions(result.options)) {
    text += "broken: " + each + "\n";
  }
  return text;
}

// One seed has no standard error.
std::string error_text(double error) {
  return std::isfinite(error) ? fmt::format("{:.4f}", error) : "-";
}

std::string moments_table(const PlacementComparison& comparison) {
  std::string text =
      fmt::format("{}: the stream behind each ffn: theory, mean over seeds (standard error)\nlayer",
                  name(comparison.setting.placement));
  for (const MomentName& moment : kMoments) text += fmt::format("   {:>7} {:<17}", moment.name, "");
  text += "\n";
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    text += fmt::format("{:5}", block + 1);
    for (const MomentName& moment : kMoments) {
      const LayerComparison at = moment_at(comparison, moment, block);
      text += fmt::format("  {:8.4f} {:8.4f} ({})", at.theory, at.simulated.mean,
                          error_text(at.simulated.error));
    }
    text += "\n";
  }
  return text;
}

std::string gradients_table(const PlacementComparison& comparison) {
  std::string text = fmt::format(
      "{}: ||dLoss/dW||: theory, root mean square over seeds (standard error); ratio: measured to\n"
      "expected from the seed's own gradient at the output\nlayer",
      name(comparison.setting.placement));
  for (const WeightName& weight : kWeights) {
    text += fmt::format("  {:>7} {:<17} {:<5}", weight.name, "", "ratio");
  }
  text += "\n";
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    text += fmt::format("{:5}", block + 1);
    for (const WeightName& weight : kWeights) {
      const GradientComparison at = gradient_at(comparison, weight, block);
      text += fmt::format("  {:7.4f} {:7.4f} ({})  {:.3f}", at.theory, at.simulated.mean,
                          error_text(at.simulated.error), at.ratio_from_measured.mean);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string text_of(const MeanFieldResult& result) {
  std::string text = heading(result);
  for (const PlacementComparison& each : result.placements) {
    text += fmt::format("\n{}\n{}", moments_table(each), gradients_table(each));
  }
  return text;
}

}  // namespace normlab
