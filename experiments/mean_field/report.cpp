// The page of mean_field. Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/mean_field/summary.hpp"

namespace normlab {

namespace {

bool is_article(const MeanFieldOptions& options) {
  return options.network == MeanFieldOptions::Network::article;
}

std::vector<std::pair<std::string, std::string>> configuration_of(const MeanFieldResult& result) {
  const MeanFieldSetting& s = result.placements.front().setting;
  std::vector<std::string> placements;
  for (const PlacementComparison& each : result.placements) {
    placements.push_back(name(each.setting.placement));
  }
  return {
      {"normlab", NORMLAB_VERSION},
      {"network", is_article(result.options) ? "the article's, on digits" : "simplified"},
      {"placements", fmt::format("{}", fmt::join(placements, ", "))},
      {"layers L", std::to_string(s.layers)},
      {"width d", std::to_string(s.width)},
      {"feed-forward width", std::to_string(s.ffn)},
      {"tokens of a sequence", std::to_string(s.tokens)},
      {"sequences", std::to_string(s.sequences)},
      {"classes", std::to_string(s.classes)},
      {"input correlation within, across",
       fmt::format("{:.4g}, {:.4g}", s.input.correlation_within(), s.input.correlation_across())},
      {"seeds", fmt::format("0 to {}", result.options.seeds - 1)}};
}

std::vector<std::string> what_to_look_for(const MeanFieldOptions& options) {
  std::vector<std::string> sentences{
      "Stream: the points lie on the theory's line. Post-norm: 3/2 in every layer, as Lemma 2 has "
      "it. Pre-norm: between the limits of Lemma 2, near the upper one where tokens are alike. "
      "Res-post: each branch adds exactly 1, so 1 + 2 l.",
      "Correlations: tokens become alike with depth, those of one sequence first.",
      "Gradients: the line is the root of the expected square; with ten classes the seeds scatter "
      "around it by a third. The ratio in the tables starts from each seed's own gradient at the "
      "output and so leaves out what the classifier and the labels add to that scatter.",
  };
  for (const std::string& each : broken_assumptions(options)) {
    sentences.push_back("Broken assumption. " + each);
  }
  return sentences;
}

std::string plus_minus(const Estimate& e) {
  return fmt::format("{:.4f} ± {:.4f}", e.mean, e.error);
}

Table moments_table(const PlacementComparison& comparison) {
  Table table{fmt::format("{}: the stream behind each ffn, mean over seeds ± standard error",
                          name(comparison.setting.placement)),
              {"layer"},
              {}};
  for (const MomentName& moment : kMoments) {
    table.header.push_back(fmt::format("{}, theory", moment.name));
    table.header.push_back("simulated");
  }
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    auto& row = table.rows.emplace_back(1, std::to_string(block + 1));
    for (const MomentName& moment : kMoments) {
      const LayerComparison at = moment_at(comparison, moment, block);
      row.push_back(fmt::format("{:.4f}", at.theory));
      row.push_back(plus_minus(at.simulated));
    }
  }
  return table;
}

Table gradients_table(const PlacementComparison& comparison) {
  Table table{fmt::format("{}: gradient norms, root mean square over seeds ± standard error, and "
                          "measured / expected from the seed's own gradient at the output",
                          name(comparison.setting.placement)),
              {"layer"},
              {}};
  for (const WeightName& weight : kWeights) {
    table.header.push_back(fmt::format("{}, theory", weight.name));
    table.header.push_back("simulated");
    table.header.push_back("ratio");
  }
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    auto& row = table.rows.emplace_back(1, std::to_string(block + 1));
    for (const WeightName& weight : kWeights) {
      const GradientComparison at = gradient_at(comparison, weight, block);
      row.push_back(fmt::format("{:.4f}", at.theory));
      row.push_back(plus_minus(at.simulated));
      row.push_back(plus_minus(at.ratio_from_measured));
    }
  }
  return table;
}

}  // namespace

Report report_of(const MeanFieldResult& result, const std::string& command) {
  Report report{"Mean-field theory beside simulation",
                command,
                configuration_of(result),
                what_to_look_for(result.options),
                figures_of(result),
                {}};
  for (const PlacementComparison& each : result.placements) {
    report.tables.push_back(moments_table(each));
    report.tables.push_back(gradients_table(each));
  }
  return report;
}

}  // namespace normlab
