// The figures of mean_field: theory as lines, the paper's bounds as thin lines, seeds as points.
// Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include <cmath>

#include <fmt/format.h>

#include "experiments/mean_field/layer_moments.hpp"

namespace normlab::mean_field {

namespace {

// File names hold a-z, 0-9 and _ only.
std::string file_part(Placement placement) {
  std::string part = name(placement);
  for (char& c : part) {
    if (c == '-') c = '_';
  }
  return part;
}

// y(block) for every block, as a line.
template <typename F>
Series line(const std::string& label, std::size_t blocks, F y) {
  Series series{.name = label, .kind = Series::Kind::theory};
  for (std::size_t block = 0; block < blocks; ++block) {
    series.add(static_cast<double>(block + 1), y(block));
  }
  return series;
}

// number(measurement, block) of every seed, as points; `aside` keeps several series apart.
template <typename F>
Series seeds(const std::string& label, const Comparison& comparison, F number, double aside = 0.0) {
  Series series{.name = label, .kind = Series::Kind::points};
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    for (const MeanFieldMeasurement& seed : comparison.measured) {
      series.add(static_cast<double>(block + 1) + aside, number(seed, block));
    }
  }
  return series;
}

Figure blank(const Comparison& comparison, const std::string& what, const std::string& title,
             const std::string& y_label) {
  return {.name = "theory_" + what + "_" + file_part(comparison.setting.placement),
          .title = fmt::format("{}: {}", name(comparison.setting.placement), title),
          .x_label = "layer, counted from the input",
          .y_label = y_label,
          .series = {},
          .alt = {},
          .caption = {}};
}

// Lemma 2 is about an input of |x|^2 = d and Xavier's square matrices.
bool lemma_2_applies(const MeanFieldSetting& s) {
  return s.input.same == 1.0 && s.ffn == s.width && s.value_gain == 1.0;
}

Figure stream(const Comparison& comparison) {
  Figure figure =
      blank(comparison, "stream", "size of the residual stream", "|x|^2 / d after each ffn");
  const std::size_t blocks = comparison.blocks.size();
  figure.series.push_back(line("theory", blocks, [&](std::size_t block) {
    return comparison.blocks[block].after_ffn.same;
  }));
  if (comparison.setting.placement == Placement::pre && lemma_2_applies(comparison.setting)) {
    for (const double slope : {0.5, 1.5}) {
      figure.series.push_back(
          line(fmt::format("Lemma 2: 1 + {} l", slope == 0.5 ? "1/2" : "3/2"), blocks,
               [&](std::size_t block) { return 1.0 + slope * static_cast<double>(block + 1); }));
    }
  }
  figure.series.push_back(
      seeds("seeds", comparison, [](const MeanFieldMeasurement& m, std::size_t block) {
        return m.blocks[block].after_ffn.same;
      }));
  figure.alt =
      "Squared size of the residual stream against the layer: a theory line through the seeds' "
      "points.";
  figure.caption =
      "Mean over tokens of |x|²/d of the sum after each feed-forward network, a point "
      "per seed. Post-norm: what the second norm receives.";
  return figure;
}

Figure correlations(const Comparison& comparison) {
  Figure figure =
      blank(comparison, "correlations", "how alike tokens are", "correlation of tokens");
  for (const bool within : {true, false}) {
    const auto correlation = [within](const BlockMoments& block) {
      return within ? block.after_ffn.correlation_within() : block.after_ffn.correlation_across();
    };
    const std::string kind = within ? "of one sequence" : "of two sequences";
    figure.series.push_back(
        line("theory, " + kind, comparison.blocks.size(),
             [&](std::size_t block) { return correlation(comparison.blocks[block]); }));
    figure.series.push_back(
        seeds("seeds, " + kind, comparison, [&](const MeanFieldMeasurement& m, std::size_t block) {
          return correlation(m.blocks[block]);
        }));
  }
  figure.alt =
      "Correlation of two tokens against the layer: two theory lines rise towards 1 through "
      "the seeds' points.";
  figure.caption =
      "Mean x · x' over pairs of tokens, divided by the mean |x|², after each "
      "feed-forward network.";
  return figure;
}

Figure gradients(const Comparison& comparison) {
  Figure figure = blank(comparison, "gradients", "size of the gradients", "gradient norm");
  figure.log_y = true;
  for (const Weight& weight : kWeights) {
    figure.series.push_back(line(fmt::format("theory, {}", weight.title), comparison.blocks.size(),
                                 [&](std::size_t block) {
                                   return std::sqrt((comparison.expected.*weight.squares)[block]);
                                 }));
  }
  double aside = -0.25;
  for (const Weight& weight : kWeights) {
    figure.series.push_back(seeds(
        fmt::format("seeds, {}", weight.title), comparison,
        [&](const MeanFieldMeasurement& m, std::size_t block) {
          return std::sqrt((m.gradients.*weight.squares)[block]);
        },
        aside));
    aside += 0.25;
  }
  figure.alt =
      "Norms of the gradients of three matrices against the layer: theory lines through "
      "the seeds' points.";
  figure.caption =
      "Frobenius norm of dLoss/dW. Line: root of the expected square; a point per "
      "seed.";
  return figure;
}

}  // namespace

std::vector<Figure> figures(const Measured& measured) {
  std::vector<Figure> figures;
  for (const Comparison& comparison : measured.placements) {
    figures.push_back(stream(comparison));
    figures.push_back(correlations(comparison));
    figures.push_back(gradients(comparison));
  }
  if (measured.options.article()) {
    for (Figure& figure : figures) figure.name = "article_" + figure.name;
  }
  return figures;
}

}  // namespace normlab::mean_field
