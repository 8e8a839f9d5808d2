// The figures of lemmas. Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/lemmas/lemmas.hpp"

namespace normlab::lemmas {

namespace {

using Kind = Series::Kind;

Figure gradient_figure(const Measured& measured, Axis axis) {
  const bool depth = axis == Axis::depth;
  Figure figure{
      .name = depth ? "lemmas_gradient_by_depth" : "lemmas_gradient_by_width",
      .title = fmt::format("Last layer's gradient against the {}", depth ? "depth" : "width"),
      .x_label = depth ? "layers L (logarithmic)" : "width d (logarithmic)",
      .y_label = "gradient norm of the last W2",
      .log_x = true,
      .log_y = true,
      .series = {},
      .alt =
          "Norm of the last layer's gradient on logarithmic axes: points of the seeds around a "
          "theory line for each placement.",
      .caption = depth ? "Theorem 1 bounds post-norm's by a constant in L and pre-norm's by one "
                         "over the root of L."
                       : "Theorem 1 bounds both by a constant times d √(ln d)."};
  std::vector<std::int64_t> sorted = values(measured.options, axis);
  std::sort(sorted.begin(), sorted.end());
  for (Placement placement : {Placement::post, Placement::pre}) {
    Series theory{.name = name(placement) + "-norm, theory", .kind = Kind::theory};
    Series seeds{.name = name(placement) + "-norm, seeds", .kind = Kind::points};
    for (std::int64_t value : sorted) {
      const std::vector<const Point*> points = measured.seeds(axis, placement, value);
      const auto x = static_cast<double>(value);
      theory.add(x, points.front()->expected_last_w2);
      for (const Point* point : points) seeds.add(x, point->last_w2());
    }
    figure.series.push_back(theory);
    figure.series.push_back(seeds);
  }
  return figure;
}

Series straight_line(const std::string& label, double at_zero, double slope, std::int64_t layers) {
  Series line{.name = label, .kind = Kind::theory};
  for (std::int64_t l = 1; l <= layers; ++l) {
    line.add(static_cast<double>(l), at_zero + slope * static_cast<double>(l));
  }
  return line;
}

void add_stream(const std::vector<BlockMoments>& blocks, Series& series) {
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    series.add(static_cast<double>(l + 1), blocks[l].after_ffn.same);
  }
}

Figure stream_figure(const Measured& measured, Placement placement) {
  const Options& options = measured.options;
  const std::int64_t layers = options.deepest();
  Figure figure{.name = "lemmas_stream_" + name(placement),
                .title = fmt::format("Lemma 2, {}-norm, {} layers", name(placement), layers),
                .x_label = "layer, counted from the input",
                .y_label = "|x|^2 / d after each ffn",
                .series = {},
                .alt =
                    "Squared size of the residual stream against the layer: points of the seeds "
                    "at the lemma's line, or between its two.",
                .caption = "Mean over tokens, a point per seed and layer."};
  if (placement == Placement::post) {
    figure.series = {straight_line("Lemma 2: 3/2", 1.5, 0.0, layers)};
  } else {
    figure.series = {straight_line("Lemma 2: 1 + l/2", 1.0, 0.5, layers),
                     straight_line("Lemma 2: 1 + 3l/2", 1.0, 1.5, layers)};
    Series theory{.name = "mean-field theory", .kind = Kind::theory};
    add_stream(forward_moments(setting(options, placement, layers, options.setting.width)), theory);
    figure.series.push_back(theory);
  }
  Series seeds{.name = "seeds", .kind = Kind::points};
  for (const Point* point : measured.seeds(Axis::depth, placement, layers)) {
    add_stream(point->measured.blocks, seeds);
  }
  figure.series.push_back(seeds);
  return figure;
}

}  // namespace

std::vector<Figure> figures(const Measured& measured) {
  return {stream_figure(measured, Placement::post), stream_figure(measured, Placement::pre),
          gradient_figure(measured, Axis::depth), gradient_figure(measured, Axis::width)};
}

}  // namespace normlab::lemmas
