// The tables of mean_field.
#include <cmath>

#include <fmt/format.h>

#include "experiments/lab/results/wrapped.hpp"
#include "experiments/mean_field/summary.hpp"

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
    text += "broken:\n" + wrapped(each);
  }
  return text;
}

// One seed has no standard error.
std::string error_text(double error, int decimals) {
  return std::isfinite(error) ? fmt::format("{:.{}f}", error, decimals) : "-";
}

std::string moments_table(const PlacementComparison& comparison) {
  std::string text =
      fmt::format("{}: the stream behind each ffn: theory, mean over seeds (standard error)\n  ",
                  name(comparison.setting.placement));
  for (const MomentName& moment : kMoments) text += fmt::format("  {:>7} {:<16}", moment.name, "");
  text += "\n";
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    text += fmt::format("{:2}", block + 1);
    for (const MomentName& moment : kMoments) {
      const LayerComparison at = moment_at(comparison, moment, block);
      text += fmt::format("  {:7.4f} {:7.4f} ({})", at.theory, at.simulated.mean,
                          error_text(at.simulated.error, 4));
    }
    text += "\n";
  }
  return text;
}

std::string gradients_table(const PlacementComparison& comparison) {
  std::string text = fmt::format(
      "{}: ||dLoss/dW||: theory, root mean square over seeds, standard error;\n"
      "ratio: measured to expected from the seed's own gradient at the output\n  ",
      name(comparison.setting.placement));
  for (const WeightName& weight : kWeights) text += fmt::format(" {:>6} {:<18}", weight.name, "");
  text += "\n  ";
  for (std::size_t i = 0; i < std::size(kWeights); ++i) text += " theory    rms error ratio";
  text += "\n";
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    text += fmt::format("{:2}", block + 1);
    for (const WeightName& weight : kWeights) {
      const GradientComparison at = gradient_at(comparison, weight, block);
      text += fmt::format(" {:>6.4g} {:>6.4g} {:>5} {:>5.3f}", at.theory, at.simulated.mean,
                          error_text(at.simulated.error, 3), at.ratio_from_measured.mean);
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
