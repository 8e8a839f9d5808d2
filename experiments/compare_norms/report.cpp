// The page of compare_norms. Tested by tests/experiments/compare_norms/compare_norms_test.cpp.
#include "experiments/compare_norms/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace normlab {

namespace {

struct Group {
  std::string norm;
  Placement placement;
};

// The measurements of one norm in one placement at one depth, one per seed.
std::vector<const GradientMeasurement*> over_seeds(const CompareNormsResult& result,
                                                   const Group& group, std::int64_t layers) {
  std::vector<const GradientMeasurement*> all;
  for (const ComparedCell& each : result.cells) {
    if (each.norm == group.norm && each.cell.placement == group.placement &&
        each.cell.layers == layers) {
      all.push_back(&each.measured);
    }
  }
  return all;
}

template <typename F>
void add_point(Series& series, double x, const std::vector<const GradientMeasurement*>& all,
               F number) {
  std::vector<double> numbers;
  for (const GradientMeasurement* m : all) numbers.push_back(number(*m));
  const Spread of_numbers = spread(numbers);
  series.x.push_back(x);
  series.y.push_back(of_numbers.median);
  series.low.push_back(of_numbers.smallest);
  series.high.push_back(of_numbers.largest);
}

Series last_gradient(const CompareNormsResult& result, const Group& group,
                     const std::string& label) {
  Series series{label, Series::Kind::band, {}, {}, {}, {}};
  std::vector<std::int64_t> depths = result.options.layers;
  std::sort(depths.begin(), depths.end());
  for (std::int64_t layers : depths) {
    add_point(series, static_cast<double>(layers), over_seeds(result, group, layers),
              [](const GradientMeasurement& m) { return m.w2_grad_norm.back(); });
  }
  return series;
}

Series stream(const CompareNormsResult& result, const Group& group, const std::string& label) {
  Series series{label, Series::Kind::band, {}, {}, {}, {}};
  const std::vector<std::int64_t>& layers = result.options.layers;
  const auto all = over_seeds(result, group, *std::max_element(layers.begin(), layers.end()));
  for (std::size_t i = 0; i < all.front()->stream_sq_norm_per_d.size(); ++i) {
    add_point(series, static_cast<double>(i + 1), all,
              [i](const GradientMeasurement& m) { return m.stream_sq_norm_per_d[i]; });
  }
  return series;
}

using MakeSeries = Series (*)(const CompareNormsResult&, const Group&, const std::string&);

// The first norm of the options in every placement.
void add_placements(const CompareNormsResult& result, MakeSeries make, Figure& figure) {
  for (Placement placement : result.options.placements) {
    figure.series.push_back(
        make(result, {result.options.norms.front(), placement}, name(placement)));
  }
}

// Pre-norm, if it is there, with every norm.
Placement shown_placement(const CompareNormsOptions& options) {
  const auto& all = options.placements;
  const bool pre = std::find(all.begin(), all.end(), Placement::pre) != all.end();
  return pre ? Placement::pre : all.front();
}
void add_norms(const CompareNormsResult& result, MakeSeries make, Figure& figure) {
  const Placement placement = shown_placement(result.options);
  for (const std::string& norm : result.options.norms) {
    if (placement == Placement::re_zero && norm != result.options.norms.front()) break;
    figure.series.push_back(make(result, {norm, placement}, norm));
  }
}

Figure gradient_figure(const std::string& name, const std::string& title, std::size_t seeds) {
  return {name,
          title,
          "layers L (logarithmic)",
          "gradient norm of the last W2",
          true,
          true,
          {},
          "Norm of the last layer's gradient against depth on logarithmic axes: a line with a band "
          "for each.",
          fmt::format("Frobenius norm of dLoss/dW2 of the last layer, untrained: median over {} "
                      "seeds, band from the smallest to the largest. A placement whose gates are "
                      "closed has no gradient and is not drawn.",
                      seeds)};
}

Figure stream_figure(const std::string& name, const std::string& title, std::size_t seeds) {
  return {name,
          title,
          "block",
          "|x|^2 / d, mean over tokens",
          false,
          true,
          {},
          "Squared size of the stream against the block on a logarithmic axis: a line with a band "
          "for each.",
          fmt::format("The stream entering each block and the final norm; in post and deepnorm the "
                      "sum entering each block's second norm. Deepest stack, median over {} seeds, "
                      "band from the smallest to the largest.",
                      seeds)};
}

std::string number(double value) {
  return std::isnan(value) ? "none" : fmt::format("{:.3g}", value);
}

std::string range(const Spread& spread) {
  if (std::isnan(spread.median)) return "none";
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", spread.median, spread.smallest, spread.largest);
}

Table summary_table(const CompareNormsResult& result) {
  Table table{"Median over seeds [smallest, largest], deepest stack",
              {"placement", "norm", "first gradient of W2", "last gradient of W2", "last / first",
               "exponent of last in L", "stream per block", "stream exponent", "loss"},
              {}};
  for (const ComparedNorm& row : result.summary()) {
    table.rows.push_back(
        {name(row.placement), row.placement == Placement::re_zero ? "(no norm)" : row.norm,
         range(row.first), range(row.last), range(row.ratio),
         std::isnan(row.depth.slope)
             ? "none"
             : fmt::format("{:.2f} ± {:.2f}", row.depth.slope, row.depth.slope_error),
         number(row.stream_per_block), number(row.stream_exponent), range(row.loss)});
  }
  return table;
}

Table placement_table(const CompareNormsOptions& options) {
  Table table{"The placements", {"placement", "equation of a block"}, {}};
  for (Placement each : options.placements) {
    table.rows.push_back({name(each), entry(each).equation});
  }
  return table;
}

std::vector<std::string> what_to_look_for() {
  return {
      "Placement decides more than the norm: rows of one placement resemble one another. The "
      "exceptions are adaln, whose gain is computed, and norms that do not fix a token's size: "
      "batchnorm, instancenorm and groupnorm, which look along other axes, and dyt.",
      "Stream: post and deepnorm keep it level, because a norm stands on it. It grows in pre, "
      "sandwich and res-post; in the last two every branch adds a token of size 1, whatever its "
      "weights, so that the growth at initialization is a straight line with a slope that training "
      "cannot raise without raising the norm's gain.",
      "adaln-zero and rezero start as the identity: the stream does not move, no gradient reaches "
      "W2, and only gates and modulation learn in the first step.",
  };
}

}  // namespace

std::vector<Figure> figures_of(const CompareNormsResult& result) {
  const std::size_t seeds = result.options.seeds.size();
  const std::string norm = result.options.norms.front();
  const std::string placement = name(shown_placement(result.options));
  std::vector<Figure> figures{
      gradient_figure("placements_gradient", norm + " in every placement: last gradient", seeds),
      stream_figure("placements_stream", norm + " in every placement: stream", seeds),
      gradient_figure("norms_gradient", "Every norm, placement " + placement + ": last gradient",
                      seeds),
      stream_figure("norms_stream", "Every norm, placement " + placement + ": stream", seeds)};
  add_placements(result, last_gradient, figures[0]);
  add_placements(result, stream, figures[1]);
  add_norms(result, last_gradient, figures[2]);
  add_norms(result, stream, figures[3]);
  return figures;
}

Report report_of(const CompareNormsResult& result, const std::string& command) {
  const CompareNormsOptions& options = result.options;
  return {"Every norm in every placement, at initialization",
          command,
          {{"normlab", NORMLAB_VERSION},
           {"width d", std::to_string(options.width)},
           {"heads", std::to_string(options.heads)},
           {"feed-forward width", std::to_string(options.ffn)},
           {"images", std::to_string(options.images)},
           {"depths", fmt::format("{}", fmt::join(options.layers, ", "))},
           {"seeds", fmt::format("{}", fmt::join(options.seeds, ", "))}},
          what_to_look_for(),
          figures_of(result),
          {summary_table(result), placement_table(options)}};
}

}  // namespace normlab
