// The tables and figures of compare_norms. Tested by
// tests/experiments/compare_norms/compare_norms_test.cpp.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/untrained/gradient_json.hpp"

namespace normlab::compare_norms {

namespace {

using lab::Shown;

std::vector<lab::Column> summary_columns(std::int64_t deepest) {
  return {{.key = "norm", .title = "norm"},
          {.key = "first_w2_grad_norm",
           .title = "first",
           .format = ".3g",
           .meaning =
               fmt::format("||dLoss/dW2|| of the first of {} blocks, median over seeds", deepest),
           .median_only = true},
          {.key = "last_w2_grad_norm",
           .title = "last",
           .format = ".3g",
           .meaning = "the same of the last block",
           .median_only = true},
          {.key = "last_over_first",
           .title = "last/first",
           .format = ".3g",
           .meaning = "median [min, max]"},
          {.key = "depth_exponent",
           .title = "p",
           .format = ".2f",
           .meaning = "last grows with the depth as L^p; all depths, with its standard error"},
          {.key = "stream_per_block",
           .title = "stream",
           .format = ".2f",
           .meaning = "|x|^2/d that a block adds to the residual stream"},
          {.key = "stream_exponent",
           .title = "q",
           .format = ".2f",
           .meaning = "the residual stream grows as (block number)^q"},
          {.key = "loss", .title = "loss", .format = ".2f", .median_only = true}};
}

// A table for each placement.
std::vector<lab::Table> summary_tables(const Measured& measured) {
  std::vector<lab::Table> tables;
  for (const Summary& row : summaries(measured)) {
    const std::string placement = name(row.placement);
    if (tables.empty() || std::get<std::string>(tables.back().common[0].second) != placement) {
      tables.push_back({.key = "summary",
                        .title = placement + ": " + entry(row.placement).equation,
                        .columns = summary_columns(measured.options.deepest()),
                        .common = {{"placement", placement}}});
    }
    const bool no_norm = row.placement == Placement::re_zero;
    tables.back().rows.push_back({no_norm ? "(no norm)" : row.norm, row.first, row.last, row.ratio,
                                  Estimate{row.depth.slope, row.depth.slope_error},
                                  row.stream_per_block, row.stream_exponent, row.loss});
  }
  return tables;
}

lab::Table points_table(const Measured& measured) {
  lab::Table table{.key = "points",
                   .title = "",
                   .columns = {{"norm", "norm"},
                               {"placement", "placement"},
                               {"layers", "layers"},
                               {"seed", "seed"}},
                   .shown = Shown::in_json};
  for (const lab::Column& column : measurement_columns()) table.columns.push_back(column);
  for (const Point& point : measured.points) {
    lab::Row row{point.norm, name(point.configuration.placement), point.configuration.layers,
                 point.configuration.seed};
    for (lab::Cell& cell : measurement_cells(point.measured)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// One line of a figure: a norm in a placement.
struct Pair {
  std::string norm;
  Placement placement;
  std::string label;
};

template <typename F>
Spread over_seeds(const Measured& measured, const Pair& pair, std::int64_t layers, F number) {
  std::vector<double> numbers;
  for (const Point& point : measured.points) {
    if (point.norm == pair.norm && point.configuration.placement == pair.placement &&
        point.configuration.layers == layers) {
      numbers.push_back(number(point.measured));
    }
  }
  return spread(numbers);
}

Series last_gradient(const Measured& measured, const Pair& pair) {
  Series series{.name = pair.label, .kind = Series::Kind::band};
  std::vector<std::int64_t> depths = measured.options.layers;
  std::sort(depths.begin(), depths.end());
  for (std::int64_t layers : depths) {
    series.add(static_cast<double>(layers),
               over_seeds(measured, pair, layers,
                          [](const GradientMeasurement& m) { return m.last_w2(); }));
  }
  return series;
}

Series stream(const Measured& measured, const Pair& pair) {
  Series series{.name = pair.label, .kind = Series::Kind::band};
  const std::int64_t deepest = measured.options.deepest();
  std::size_t norms = 0;
  over_seeds(measured, pair, deepest, [&](const GradientMeasurement& m) {
    norms = m.stream_sq_norm_per_d.size();
    return 0.0;
  });
  for (std::size_t i = 0; i < norms; ++i) {
    series.add(static_cast<double>(i + 1),
               over_seeds(measured, pair, deepest,
                          [i](const GradientMeasurement& m) { return m.stream_sq_norm_per_d[i]; }));
  }
  return series;
}

// Pre-norm, if it is there, is the placement that is shown with every norm.
Placement shown_placement(const Options& options) {
  const auto& all = options.placements;
  const bool pre = std::find(all.begin(), all.end(), Placement::pre) != all.end();
  return pre ? Placement::pre : all.front();
}

std::vector<Pair> one_norm_everywhere(const Options& options) {
  std::vector<Pair> pairs;
  for (Placement placement : options.placements) {
    pairs.push_back({options.norms.front(), placement, name(placement)});
  }
  return pairs;
}

std::vector<Pair> every_norm(const Options& options) {
  const Placement placement = shown_placement(options);
  std::vector<Pair> pairs;
  for (const std::string& norm : options.norms) {
    if (placement == Placement::re_zero && !pairs.empty()) break;
    pairs.push_back({norm, placement, norm});
  }
  return pairs;
}

Figure gradient_figure(const Measured& measured, const std::vector<Pair>& pairs,
                       const std::string& name, const std::string& title) {
  Figure figure{
      .name = name,
      .title = title,
      .x_label = "layers L (logarithmic)",
      .y_label = "gradient norm of the last W2",
      .log_x = true,
      .log_y = true,
      .series = {},
      .alt =
          "Norm of the last layer's gradient against depth on logarithmic axes: a line with a "
          "band for each.",
      .caption = fmt::format(
          "Frobenius norm of dLoss/dW2 of the last layer, untrained: median over {} seeds, band "
          "from the smallest to the largest. A placement whose gates are closed has no gradient "
          "and is not drawn.",
          measured.options.seeds.size())};
  for (const Pair& pair : pairs) figure.series.push_back(last_gradient(measured, pair));
  return figure;
}

Figure stream_figure(const Measured& measured, const std::vector<Pair>& pairs,
                     const std::string& name, const std::string& title) {
  Figure figure{
      .name = name,
      .title = title,
      .x_label = "block",
      .y_label = "|x|^2 / d, mean over tokens",
      .log_x = false,
      .log_y = true,
      .series = {},
      .alt =
          "Squared size of the residual stream against the block on a logarithmic axis: a line "
          "with a band for each.",
      .caption = fmt::format(
          "The residual stream entering each block and the final norm; in post and deepnorm the "
          "sum entering each block's second norm. Deepest stack, median over {} seeds, band from "
          "the smallest to the largest.",
          measured.options.seeds.size())};
  for (const Pair& pair : pairs) figure.series.push_back(stream(measured, pair));
  return figure;
}

std::vector<Figure> figures(const Measured& measured) {
  const Options& options = measured.options;
  const std::vector<Pair> placements = one_norm_everywhere(options), norms = every_norm(options);
  const std::string norm = options.norms.front(), placement = name(shown_placement(options));
  return {gradient_figure(measured, placements, "placements_gradient",
                          norm + " in every placement: last gradient"),
          stream_figure(measured, placements, "placements_stream",
                        norm + " in every placement: residual stream"),
          gradient_figure(measured, norms, "norms_gradient",
                          "Every norm, placement " + placement + ": last gradient"),
          stream_figure(measured, norms, "norms_stream",
                        "Every norm, placement " + placement + ": residual stream")};
}

std::vector<std::string> what_to_look_for() {
  return {
      "Placement decides more than the norm: rows of one placement resemble one another. The "
      "exceptions are adaln, whose gain is computed, and norms that do not fix a token's size: "
      "batchnorm, instancenorm and groupnorm, which look along other axes, and dyt.",
      "Residual stream: post and deepnorm keep it level, because a norm stands on it. It grows in "
      "pre, sandwich and res-post. In the last two every branch adds a token of size 1, whatever "
      "its weights, so the growth at initialization is a straight line whose slope training can "
      "raise only by raising the norm's gain.",
      "adaln-zero and rezero start as the identity: the residual stream does not move, no gradient "
      "reaches W2, and only gates and modulation learn in the first step.",
  };
}

}  // namespace

lab::Results results(const Measured& measured) {
  const Options& options = measured.options;
  lab::Results results{
      .title = "Every norm in every placement, at initialization",
      .heading =
          fmt::format("width {}, {} images, layers [{}], seeds [{}]", options.width, options.images,
                      fmt::join(options.layers, ", "), fmt::join(options.seeds, ", ")),
      .look_for = what_to_look_for(),
      .tables = summary_tables(measured),
      .figures = figures(measured)};
  results.tables.push_back(points_table(measured));
  const auto finite = [](const Point& point) { return point.measured.all_finite(); };
  if (!std::all_of(measured.points.begin(), measured.points.end(), finite)) {
    results.exit_code = 1;
    results.exit_message = "some numbers are not finite: see the table";
  }
  return results;
}

}  // namespace normlab::compare_norms
