// The figures of init_gradients. Tested by
// tests/experiments/init_gradients/init_gradients_report_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiments/init_gradients/report.hpp"
#include "experiments/init_gradients/seeds.hpp"

namespace normlab {

namespace {

void add_spread(Series& series, double x, const std::vector<double>& values) {
  const Spread of_values = spread(values);
  series.x.push_back(x);
  series.y.push_back(of_values.median);
  series.low.push_back(of_values.smallest);
  series.high.push_back(of_values.largest);
}

// One list of a measurement, entry by entry from x = 1.
Series profile(const InitGradientsResult& result, Placement placement, const std::string& label,
               std::vector<double> GradientMeasurement::*list) {
  Series series{label, Series::Kind::band, {}, {}, {}, {}};
  const GradientCell cell = profile_cell(result, placement);
  GradientCell first = cell;
  first.seed = result.options.seeds.front();
  const std::size_t entries = (result.measurement(first).*list).size();
  for (std::size_t at = 0; at < entries; ++at) {
    add_spread(
        series, static_cast<double>(at + 1),
        over_seeds(result, cell, [&](const GradientMeasurement& m) { return (m.*list)[at]; }));
  }
  return series;
}

Figure gradient_by_layer(const InitGradientsResult& result) {
  const std::int64_t depth = result.options.profile_layers;
  Figure figure{"gradient_by_layer",
                fmt::format("Gradient of W2 in each of {} layers", depth),
                "layer, counted from the input",
                "gradient norm of W2",
                false,
                false,
                {},
                "Norm of the gradient against the layer: a line with a band for each placement.",
                fmt::format("Frobenius norm of dLoss/dW2, untrained, input scale {}: median over "
                            "{} seeds, band from the smallest to the largest.",
                            result.options.scales.front().name, result.options.seeds.size())};
  for (Placement placement : result.options.placements) {
    figure.series.push_back(
        profile(result, placement, title(placement), &GradientMeasurement::w2_grad_norm));
  }
  return figure;
}

// Lemma 2 is about an input of |x|^2 = d; there its three numbers after `blocks` blocks are 3/2,
// 1 + blocks/2 and 1 + 3 blocks/2. The last would leave the measurements at the foot of the figure.
void add_lemma_2(const InitGradientsResult& result, Placement placement, Figure& figure) {
  if (result.options.scales.front().value != 1.0) return;
  const bool post = placement == Placement::post;
  if (!post && placement != Placement::pre) return;
  Series theory{post ? "Lemma 2, post: 3/2" : "Lemma 2, pre: lower limit 1 + (l - 1)/2",
                Series::Kind::theory,
                {},
                {},
                {},
                {}};
  for (std::int64_t l = 1; l <= result.options.profile_layers + (post ? 0 : 1); ++l) {
    theory.x.push_back(static_cast<double>(l));
    theory.y.push_back(post ? 1.5 : 1.0 + 0.5 * static_cast<double>(l - 1));
  }
  figure.series.push_back(theory);
}

Figure stream_by_layer(const InitGradientsResult& result) {
  const std::int64_t depth = result.options.profile_layers;
  Figure figure{"stream_by_layer",
                fmt::format("What the norms of {} layers receive", depth),
                fmt::format("layer l ({}: pre-norm's final norm)", depth + 1),
                "|x|^2 / d, mean over tokens",
                false,
                false,
                {},
                "Squared size of the stream against the layer: a line with a band for each "
                "placement, and the values of Lemma 2 as thin lines.",
                fmt::format("Post-norm: the sum entering the second norm of layer l. Pre-norm: the "
                            "stream entering layer l. Median over {} seeds, band from the smallest "
                            "to the largest. Lemma 2 holds in a simpler setting; its upper limit "
                            "for pre-norm, 1 + 3(l - 1)/2, is not drawn.",
                            result.options.seeds.size())};
  for (Placement placement : result.options.placements) {
    figure.series.push_back(
        profile(result, placement, title(placement), &GradientMeasurement::stream_sq_norm_per_d));
  }
  for (Placement placement : result.options.placements) add_lemma_2(result, placement, figure);
  return figure;
}

// Slope -1/2 through the first point: Theorem 1 bounds the pre-norm gradient by a constant times
// 1/sqrt(L) and says nothing of the constant.
Series inverse_root(const Series& measured) {
  Series theory{"slope -1/2 (Theorem 1, pre)", Series::Kind::theory, measured.x, {}, {}, {}};
  for (double x : measured.x) {
    theory.y.push_back(measured.y.front() * std::sqrt(measured.x.front() / x));
  }
  return theory;
}

Figure last_gradient(const InitGradientsResult& result, std::size_t scale_index) {
  const InitGradientsOptions& options = result.options;
  const InputScale& scale = options.scales[scale_index];
  Figure figure{fmt::format("last_gradient_by_depth_{}", scale_index + 1),
                fmt::format("Last layer against depth, input scale {}", scale.name),
                "layers L (logarithmic)",
                "gradient norm of the last W2",
                true,
                true,
                {},
                "Norm of the last layer's gradient against depth on logarithmic axes: a line with "
                "a band for each placement, and a thin line of slope -1/2.",
                fmt::format("Frobenius norm of dLoss/dW2 of the last layer: median over {} seeds, "
                            "band from the smallest to the largest.",
                            options.seeds.size())};
  std::vector<std::int64_t> depths = options.layers;
  std::sort(depths.begin(), depths.end());
  std::vector<Series> theory;
  for (Placement placement : options.placements) {
    Series series{title(placement), Series::Kind::band, {}, {}, {}, {}};
    for (std::int64_t layers : depths) {
      add_spread(series, static_cast<double>(layers),
                 over_seeds(result, {layers, placement, 0, scale.value},
                            [](const GradientMeasurement& m) { return m.w2_grad_norm.back(); }));
    }
    if (placement == Placement::pre && depths.size() > 1) theory.push_back(inverse_root(series));
    figure.series.push_back(series);
  }
  figure.series.insert(figure.series.end(), theory.begin(), theory.end());
  return figure;
}

}  // namespace

std::vector<Figure> figures_of(const InitGradientsResult& result) {
  std::vector<Figure> figures{gradient_by_layer(result), stream_by_layer(result)};
  for (std::size_t i = 0; i < result.options.scales.size(); ++i) {
    figures.push_back(last_gradient(result, i));
  }
  return figures;
}

}  // namespace normlab
