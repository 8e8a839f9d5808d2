// The figures of discrepancy. Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "experiments/discrepancy/discrepancy.hpp"
#include "experiments/discrepancy/summary.hpp"

namespace normlab::discrepancy {

namespace {

void add_point(Series& series, double x, const Estimate& e) {
  const double error = !std::isfinite(e.error) ? 0.0 : e.error;
  series.x.push_back(x);
  series.y.push_back(e.mean);
  series.low.push_back(e.mean - error);
  series.high.push_back(e.mean + error);
}

std::vector<Ablation> among(const Measured& result, const std::vector<std::string>& names) {
  std::vector<Ablation> found;
  for (const std::string& name : names) {
    for (const Ablation& ablation : result.options.ablations) {
      if (ablation.name == name) found.push_back(ablation);
    }
  }
  return found;
}

// Each seed's norm divided by its norm at the first depth.
Series depth_curve(const Measured& result, const Ablation& ablation, Placement placement) {
  Series series{ablation.name, Series::Kind::band, {}, {}, {}, {}};
  const auto norms = [&](std::int64_t layers) {
    return over_seeds(result, ablation, placement, layers,
                      [](const auto& m) { return m.w2_grad_norm.back(); });
  };
  std::vector<std::int64_t> depths = result.options.layers;
  std::sort(depths.begin(), depths.end());
  const std::vector<double> first = norms(depths.front());
  for (const std::int64_t layers : depths) {
    std::vector<double> relative = norms(layers);
    for (std::size_t i = 0; i < relative.size(); ++i) relative[i] /= first[i];
    add_point(series, static_cast<double>(layers), geometric(relative));
  }
  return series;
}

Figure depth_figure(const Measured& result, Placement placement) {
  Figure figure{
      fmt::format("discrepancy_depth_{}", name(placement)),
      fmt::format("Last layer against depth, {}-norm", name(placement)),
      "layers L (logarithmic)",
      "last W2's gradient, relative",
      true,
      true,
      {},
      "Norm of the last layer's gradient against depth, relative to the shallowest "
      "network: a line with a band for each of several setups.",
      "Geometric mean over seeds with its standard error as the band. Ablations as in the "
      "table of the program."};
  for (const Ablation& ablation :
       among(result, {"article", "token_labels", "classes_10k_token_labels",
                      "no_opinion_token_labels", "cross_attention", "paper"})) {
    figure.series.push_back(depth_curve(result, ablation, placement));
  }
  return figure;
}

// number(measurement, layer) for each layer of the profile's depth.
template <typename F>
Series layer_curve(const Measured& result, const Ablation& ablation, Placement placement,
                   F number) {
  Series series{ablation.name, Series::Kind::band, {}, {}, {}, {}};
  const std::int64_t depth = result.options.profile_layers();
  for (std::int64_t layer = 0; layer < depth; ++layer) {
    add_point(series, static_cast<double>(layer + 1),
              estimate(over_seeds(result, ablation, placement, depth, [&](const auto& m) {
                return number(m, static_cast<std::size_t>(layer));
              })));
  }
  return series;
}

Figure profile_figure(const Measured& result) {
  Figure figure{
      "discrepancy_profile",
      fmt::format("Gradient of W2 in each of {} post-norm layers", result.options.profile_layers()),
      "layer, counted from the input",
      "gradient norm of W2 / last layer's",
      false,
      true,
      {},
      "Norm of the gradient against the layer, relative to the last layer, on a "
      "logarithmic axis: a line with a band for each of several setups.",
      "Mean over seeds with its standard error as the band."};
  for (const Ablation& ablation : among(result, {"article", "classes_10k_token_labels", "width_512",
                                                 "cross_attention", "paper", "paper_no_cross"})) {
    figure.series.push_back(
        layer_curve(result, ablation, Placement::post, [](const auto& m, std::size_t layer) {
          return m.w2_grad_norm[layer] / m.w2_grad_norm.back();
        }));
  }
  return figure;
}

Figure similarity_figure(const Measured& result, const Ablation& ablation) {
  Figure figure{
      "discrepancy_similarity",
      fmt::format("Similarity of tokens, ablation {}", ablation.name),
      "layer that reads them",
      "mean cosine of two tokens",
      false,
      false,
      {},
      "Mean cosine similarity of tokens against the layer: four lines, within and across "
      "sequences for both placements, all rising towards 1.",
      "Mean over seeds, standard error as the band; the residual stream entering each block."};
  for (const Placement placement : {Placement::post, Placement::pre}) {
    const auto add = [&](const char* which, auto number) {
      figure.series.push_back(layer_curve(result, ablation, placement, number));
      figure.series.back().name = fmt::format("{}-norm, {}", name(placement), which);
    };
    add("same sequence", [](const auto& m, std::size_t at) { return m.similarity_within[at]; });
    add("across sequences", [](const auto& m, std::size_t at) { return m.similarity_across[at]; });
  }
  return figure;
}

Figure coherence_figure(const Measured& result) {
  Figure figure{"discrepancy_coherence",
                fmt::format("Coherent share of the squared gradient, {} post-norm layers",
                            result.options.profile_layers()),
                "layer, counted from the input",
                "1 - incoherent part / total",
                false,
                false,
                {},
                "Share of the squared gradient that pairs of different tokens make, against the "
                "layer: a line with a band for each of several setups.",
                "Mean over seeds with its standard error as the band. 0: tokens contribute in "
                "unrelated directions; near 1: in one direction."};
  for (const Ablation& ablation :
       among(result, {"article", "token_labels", "classes_10k_token_labels",
                      "no_opinion_token_labels", "paper", "small_even_labels"})) {
    figure.series.push_back(
        layer_curve(result, ablation, Placement::post,
                    [](const auto& m, std::size_t layer) { return m.coherent_share(layer); }));
  }
  return figure;
}

}  // namespace

std::vector<Figure> figures(const Measured& result) {
  return {depth_figure(result, Placement::post), depth_figure(result, Placement::pre),
          profile_figure(result), similarity_figure(result, result.options.ablations.front()),
          coherence_figure(result)};
}

}  // namespace normlab::discrepancy
