// The tables of lemmas. Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include <fmt/format.h>

#include "experiments/lemmas/lemmas.hpp"

namespace normlab::lemmas {

namespace {

using lab::Shown;

std::string heading(const Options& options) {
  const MeanFieldSetting& s = options.setting;
  return fmt::format(
      "lemmas of Xiong et al. (2020), simplified setting\n"
      "d = ffn = {} where the depth varies, L = {} where the width varies\n"
      "{} tokens x {} sequences, correlation {:g} within, {} classes, seeds 0 to {}",
      s.width, kDepthOfWidths, s.tokens, s.sequences, s.input.within, s.classes, options.seeds - 1);
}

std::vector<lab::Column> gradient_columns(Axis axis) {
  const auto column = [](const char* key, const char* title, const char* format,
                         const char* meaning) {
    return lab::Column{.key = key, .title = title, .format = format, .meaning = meaning};
  };
  const char* theory = "by mean-field theory, of the placement to its right";
  const char* seeds = "root mean square over seeds (standard error), as is pre";
  const char* delta = "share of tokens whose |x|^2 is far from its mean, as is delta pre";
  if (axis == Axis::depth) {
    return {{"layers", "L"},
            column("post_theory", "theory", ".3f", theory),
            column("post", "post", ".3f", seeds),
            column("pre_theory", "theory", ".3f", ""),
            column("pre", "pre", ".3f", "")};
  }
  std::vector<lab::Column> columns = gradient_columns(Axis::depth);
  columns.front() = {"width", "d"};
  columns.push_back(column("post_delta", "delta post", ".2f", delta));
  columns.push_back(column("pre_delta", "delta pre", ".2f", ""));
  return columns;
}

// The last W2's gradient at every depth or width.
lab::Table gradient_table(const Measured& measured, Axis axis) {
  lab::Table table{
      .key = axis == Axis::depth ? "gradient_by_depth" : "gradient_by_width",
      .title = axis == Axis::depth
                   ? "||dLoss/dW2|| of the last layer against the depth L"
                   : "||dLoss/dW2|| against the width d; delta: share of |x|^2 more than 10 % off",
      .columns = gradient_columns(axis)};
  for (std::int64_t value : values(measured.options, axis)) {
    lab::Row& row = table.rows.emplace_back(1, value);
    for (Placement placement : {Placement::post, Placement::pre}) {
      std::vector<double> squares;
      const std::vector<const Point*> seeds = measured.seeds(axis, placement, value);
      for (const Point* point : seeds) squares.push_back(point->last_w2() * point->last_w2());
      row.emplace_back(seeds.front()->expected_last_w2);
      row.emplace_back(root_mean(squares));
    }
    for (Placement placement : {Placement::post, Placement::pre}) {
      if (axis == Axis::width) row.emplace_back(share_outside(measured, placement, value));
    }
  }
  return table;
}

lab::Table points_table(const Measured& measured, Axis axis) {
  lab::Table table{.key = axis == Axis::depth ? "by_depth" : "by_width",
                   .title = "",
                   .columns = {{"placement", ""},
                               {"layers", ""},
                               {"width", ""},
                               {"seed", ""},
                               {"w2_last_norm", ""},
                               {"after_ffn", ""},
                               {"last_sizes", ""}},
                   .shown = Shown::in_json};
  for (const Point& point : measured.points) {
    if (point.axis != axis) continue;
    std::vector<double> stream;
    for (const BlockMoments& block : point.measured.blocks) stream.push_back(block.after_ffn.same);
    table.rows.push_back({name(point.placement), point.layers, point.width, point.seed,
                          point.last_w2(), stream, point.measured.last_sizes});
  }
  return table;
}

}  // namespace

lab::Results results(const Measured& measured) {
  const std::vector<lab::Claim> all = claims(measured);
  lab::Results results{
      .title = "The lemmas of Xiong et al., measured",
      .heading = heading(measured.options),
      .look_for =
          {"Lemmas 1 to 3 are statements about expectations in this very setting, and have to "
           "hold.",
           "Theorem 1 is an upper bound. Read as a law, post-norm's gradient would be the same at "
           "every depth and pre-norm's fall like 1/√L. The exponents say how far that is so, and "
           "the mean-field theory, in the column beside, what they should be instead."},
      .tables = {claims_table(all), gradient_table(measured, Axis::depth),
                 gradient_table(measured, Axis::width), points_table(measured, Axis::depth),
                 points_table(measured, Axis::width)},
      .figures = figures(measured),
      .config = {{"layers_of_widths", "layers of the networks of --widths", kDepthOfWidths}}};
  if (!lab::proved_claims_hold(all)) {
    results.exit_code = 1;
    results.exit_message = "a claim that is proved in this setting does not hold";
  }
  return results;
}

}  // namespace normlab::lemmas
