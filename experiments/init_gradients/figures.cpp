// The figures of init_gradients. Tested by
// tests/experiments/init_gradients/init_gradients_page_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiments/init_gradients/init_gradients.hpp"

namespace normlab::init_gradients {

namespace {

// One list of a measurement, entry by entry from x = 1.
Series profile(const Measured& measured, Placement placement, const std::string& label,
               std::vector<double> GradientMeasurement::*list) {
  Series series{.name = label, .kind = Series::Kind::band};
  const Configuration configuration = measured.profile(placement);
  Configuration first = configuration;
  first.seed = measured.options.seeds.front();
  const std::size_t entries = (measured.measurement(first).*list).size();
  for (std::size_t at = 0; at < entries; ++at) {
    series.add(static_cast<double>(at + 1),
               spread(over_seeds(measured, configuration,
                                 [&](const GradientMeasurement& m) { return (m.*list)[at]; })));
  }
  return series;
}

Figure gradient_by_layer(const Measured& measured) {
  const std::int64_t depth = measured.options.profile_layers;
  Figure figure{
      .name = "gradient_by_layer",
      .title = fmt::format("Gradient of W2 in each of {} layers", depth),
      .x_label = "layer, counted from the input",
      .y_label = "gradient norm of W2",
      .series = {},
      .alt = "Norm of the gradient against the layer: a line with a band for each placement.",
      .caption = fmt::format("Frobenius norm of dLoss/dW2, untrained, input scale {}: median over "
                             "{} seeds, band from the smallest to the largest.",
                             measured.options.scales.front().name, measured.options.seeds.size())};
  for (Placement placement : measured.options.placements) {
    figure.series.push_back(
        profile(measured, placement, title(placement), &GradientMeasurement::w2_grad_norm));
  }
  return figure;
}

// Lemma 2 is about an input of |x|^2 = d; there its three numbers after `blocks` blocks are 3/2,
// 1 + blocks/2 and 1 + 3 blocks/2. The last would leave the measurements at the foot of the figure.
void add_lemma_2(const Measured& measured, Placement placement, Figure& figure) {
  if (measured.options.scales.front().value != 1.0) return;
  const bool post = placement == Placement::post;
  if (!post && placement != Placement::pre) return;
  Series theory{.name = post ? "Lemma 2, post: 3/2" : "Lemma 2, pre: lower limit 1 + (l - 1)/2",
                .kind = Series::Kind::theory};
  for (std::int64_t l = 1; l <= measured.options.profile_layers + (post ? 0 : 1); ++l) {
    theory.add(static_cast<double>(l), post ? 1.5 : 1.0 + 0.5 * static_cast<double>(l - 1));
  }
  figure.series.push_back(theory);
}

Figure stream_by_layer(const Measured& measured) {
  const std::int64_t depth = measured.options.profile_layers;
  Figure figure{
      .name = "stream_by_layer",
      .title = fmt::format("What the norms of {} layers receive", depth),
      .x_label = fmt::format("layer l ({}: pre-norm's final norm)", depth + 1),
      .y_label = "|x|^2 / d, mean over tokens",
      .series = {},
      .alt =
          "Squared size of the residual stream against the layer: a line with a band for each "
          "placement, and the values of Lemma 2 as thin lines.",
      .caption = fmt::format(
          "Post-norm: the sum entering the second norm of layer l. Pre-norm: the stream entering "
          "layer l. Median over {} seeds, band from the smallest to the largest. Lemma 2 holds in "
          "a "
          "simpler setting; its upper limit for pre-norm, 1 + 3(l - 1)/2, is not drawn.",
          measured.options.seeds.size())};
  for (Placement placement : measured.options.placements) {
    figure.series.push_back(
        profile(measured, placement, title(placement), &GradientMeasurement::stream_sq_norm_per_d));
  }
  for (Placement placement : measured.options.placements) add_lemma_2(measured, placement, figure);
  return figure;
}

// Slope -1/2 through the first point: Theorem 1 bounds the pre-norm gradient by a constant times
// 1/sqrt(L) and says nothing of the constant.
Series inverse_root(const Series& measured) {
  Series theory{
      .name = "slope -1/2 (Theorem 1, pre)", .kind = Series::Kind::theory, .x = measured.x};
  for (double x : measured.x) {
    theory.y.push_back(measured.y.front() * std::sqrt(measured.x.front() / x));
  }
  return theory;
}

Figure last_gradient(const Measured& measured, std::size_t scale_index) {
  const Options& options = measured.options;
  const InputScale& scale = options.scales[scale_index];
  Figure figure{
      .name = fmt::format("last_gradient_by_depth_{}", scale_index + 1),
      .title = fmt::format("Last layer against depth, input scale {}", scale.name),
      .x_label = "layers L (logarithmic)",
      .y_label = "gradient norm of the last W2",
      .log_x = true,
      .log_y = true,
      .series = {},
      .alt =
          "Norm of the last layer's gradient against depth on logarithmic axes: a line with a "
          "band for each placement, and a thin line of slope -1/2.",
      .caption = fmt::format("Frobenius norm of dLoss/dW2 of the last layer: median over {} seeds, "
                             "band from the smallest to the largest.",
                             options.seeds.size())};
  std::vector<std::int64_t> depths = options.layers;
  std::sort(depths.begin(), depths.end());
  std::vector<Series> theory;
  for (Placement placement : options.placements) {
    Series series{.name = title(placement), .kind = Series::Kind::band};
    for (std::int64_t layers : depths) {
      series.add(static_cast<double>(layers),
                 spread(last_gradients(measured, layers, placement, scale.value)));
    }
    if (placement == Placement::pre && depths.size() > 1) theory.push_back(inverse_root(series));
    figure.series.push_back(series);
  }
  figure.series.insert(figure.series.end(), theory.begin(), theory.end());
  return figure;
}

}  // namespace

std::vector<Figure> figures(const Measured& measured) {
  std::vector<Figure> figures{gradient_by_layer(measured), stream_by_layer(measured)};
  for (std::size_t i = 0; i < measured.options.scales.size(); ++i) {
    figures.push_back(last_gradient(measured, i));
  }
  return figures;
}

}  // namespace normlab::init_gradients
