// The tables of the page and of the JSON. Tested by
// tests/experiments/init_gradients/init_gradients_page_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/untrained/gradient_json.hpp"

namespace normlab::init_gradients {

namespace {

using lab::Shown;

std::string key(Placement placement, const std::string& what) {
  std::string key = name(placement) + what;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

lab::Column column(Placement placement, const std::string& what, const std::string& title) {
  return {.key = key(placement, what), .title = title, .format = ".4f"};
}

lab::Table profile_table(const Measured& measured) {
  lab::Table table{.key = "by_layer",
                   .title = "Each layer: median over seeds [smallest, largest]",
                   .columns = {{"layer", "layer"}}};
  const std::vector<Placement>& placements = measured.options.placements;
  for (Placement placement : placements) {
    table.columns.push_back(
        column(placement, "_w2_grad_norm", title(placement) + " gradient of W2"));
  }
  for (Placement placement : placements) {
    table.columns.push_back(
        column(placement, "_stream_sq_norm_per_d", title(placement) + " |x|²/d"));
  }
  for (std::int64_t layer = 1; layer <= measured.options.profile_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer - 1);
    lab::Row& row = table.rows.emplace_back(1, layer);
    for (const auto list :
         {&GradientMeasurement::w2_grad_norm, &GradientMeasurement::stream_sq_norm_per_d}) {
      for (Placement placement : placements) {
        row.emplace_back(
            spread(over_seeds(measured, measured.profile(placement),
                              [&](const GradientMeasurement& m) { return (m.*list)[at]; })));
      }
    }
  }
  return table;
}

lab::Table final_norm_table(const Measured& measured) {
  lab::Table table{
      .key = "final_norm",
      .title = "What the final norm receives",
      .columns = {{"placement", "placement"}, {"stream_sq_norm_per_d", "|x|²/d", ".4f"}}};
  for (Placement placement : measured.options.placements) {
    if (!entry(placement).needs_final_norm) continue;
    table.rows.push_back({name(placement), spread(over_seeds(measured, measured.profile(placement),
                                                             [](const GradientMeasurement& m) {
                                                               return m.stream_sq_norm_per_d.back();
                                                             }))});
  }
  return table;
}

lab::Table ratio_table(const Measured& measured) {
  lab::Table table{.key = "last_over_first",
                   .title = "Gradient of W2, last layer divided by first",
                   .columns = {{"placement", "placement"}, {"ratio", "ratio", ".4f"}}};
  for (Placement placement : measured.options.placements) {
    table.rows.push_back({name(placement), spread(over_seeds(measured, measured.profile(placement),
                                                             [](const GradientMeasurement& m) {
                                                               return m.w2_last_over_first();
                                                             }))});
  }
  return table;
}

lab::Table depth_table(const Measured& measured) {
  const Options& options = measured.options;
  lab::Table table{.key = "by_depth",
                   .title = "Gradient of W2 of the last layer against depth",
                   .columns = {{"input_scale", "input scale"}, {"layers", "layers L"}}};
  for (Placement placement : options.placements) {
    table.columns.push_back(column(placement, "_last_w2_grad_norm", title(placement)));
    if (placement == Placement::pre) {
      table.columns.push_back(column(placement, "_times_root_layers", "pre-norm median × √L"));
    }
  }
  for (const InputScale& scale : options.scales) {
    for (std::int64_t layers : options.layers) {
      lab::Row row{scale.name, layers};
      for (Placement placement : options.placements) {
        const auto last = last_gradients(measured, layers, placement, scale.value);
        row.emplace_back(spread(last));
        if (placement == Placement::pre) row.emplace_back(times_root_depth(last, layers));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

lab::Table check_table(const Measured& measured) {
  lab::Table table{
      .key = "checks",
      .title = "Checks that the experiment made of itself",
      .columns = {{"check", "check"}, {"found", "found", ".1e"}, {"passed", "passed"}}};
  for (const FiniteDifferenceCheck& check : measured.finite_differences) {
    table.rows.push_back(
        {fmt::format("C1: gradient against finite difference, {} layer {}, relative error",
                     title(check.placement), check.layer),
         check.relative_error(), check.passed()});
  }
  const NormAgreement& agreement = measured.norm_agreement;
  table.rows.push_back({"C2: largest |RMSNorm - LayerNorm| on centred tokens", agreement.centred,
                        agreement.passed()});
  table.rows.push_back({"C2: the same on uncentred tokens, where it has to be large",
                        agreement.uncentred, agreement.passed()});
  return table;
}

lab::Table points_table(const Measured& measured) {
  lab::Table table{.key = "points",
                   .title = "",
                   .columns = {{"layers", ""}, {"placement", ""}, {"seed", ""}, {"scale", ""}},
                   .shown = Shown::in_json};
  for (const lab::Column& column : measurement_columns()) table.columns.push_back(column);
  for (const Point& point : measured.points) {
    const Configuration& c = point.configuration;
    lab::Row row{c.layers, name(c.placement), c.seed, c.scale};
    for (lab::Cell& cell : measurement_cells(point.measured)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> what_to_look_for() {
  return {
      "Residual stream: without a norm on the main path, pre-norm's |x|²/d should rise with every "
      "block, and post-norm's stay level. The constants of Lemma 2 belong to a simpler setting and "
      "need not be met.",
      "Depth: the larger stream makes the Jacobian of pre-norm's final norm smaller, so its last "
      "gradient should fall like 1/√L, and its median times √L stay level. Post-norm's last "
      "gradient may grow with depth: Theorem 1 is an upper bound.",
      "Layers: the paper's preliminary analysis expects post-norm's gradient to grow towards the "
      "output and pre-norm's to be level. The last layer's divided by the first's tells how far "
      "that is so here, and whether all seeds agree.",
  };
}

}  // namespace

lab::Results results(const Measured& measured) {
  std::vector<double> scales;
  for (const InputScale& scale : measured.options.scales) scales.push_back(scale.value);
  lab::Results results{
      .title = "Gradients at initialization: post-norm against pre-norm",
      .look_for = what_to_look_for(),
      .tables = {profile_table(measured), final_norm_table(measured), ratio_table(measured),
                 depth_table(measured), check_table(measured), points_table(measured)},
      .figures = figures(measured),
      .text = article_table(measured),
      .config = {{"input_scale_values", "the scales as numbers", scales}}};
  if (!measured.all_finite()) {
    results.exit_code = 1;
    results.exit_message = "some numbers are not finite: use a smaller --input-scale";
  } else if (!measured.checks_passed()) {
    results.exit_code = 1;
    results.exit_message =
        "a self-check failed (C1: a gradient is not the derivative of the loss, or C2: the norms "
        "differ on centred tokens)";
  }
  return results;
}

}  // namespace normlab::init_gradients
