// The table and figures of attention_logits. Tested by
// tests/experiments/attention_logits/attention_logits_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/attention_logits/attention_logits.hpp"

namespace normlab::attention_logits {

namespace {

using lab::Shown;

lab::Table summary_table(const Measured& measured) {
  lab::Table table{
      .key = "summary",
      .title = "W_Q and W_K times a scale: medians over seeds",
      .columns = {{.key = "qk_norm", .title = "qk-norm"},
                  {.key = "scale", .title = "scale", .format = "g"},
                  {.key = "largest_logit", .title = "largest logit", .median_only = true},
                  {.key = "bound", .title = "bound", .format = ".3g", .shown = Shown::in_text},
                  {.key = "entropy",
                   .title = "entropy",
                   .format = ".3f",
                   .meaning = "of the attention weights / ln T",
                   .median_only = true},
                  {.key = "one_hot",
                   .title = "one-hot",
                   .format = ".3f",
                   .meaning = "share of queries with a weight > 0.99",
                   .median_only = true},
                  {.key = "query_key_grad_norm",
                   .title = "gradient",
                   .format = ".2e",
                   .meaning = "of the mean square of the output by W_Q and W_K",
                   .median_only = true}}};
  for (const Summary& row : summaries(measured)) {
    const double bound = logit_bound(measured.options, row.variant);
    table.rows.push_back({row.variant, row.scale, row.largest_logit,
                          std::isfinite(bound) ? lab::Cell(bound) : lab::Cell(), row.entropy,
                          row.one_hot, row.gradient});
  }
  return table;
}

lab::Table bounds_table(const Options& options) {
  lab::Table table{.key = "logit_bounds",
                   .title = "",
                   .columns = {{"qk_norm", "qk-norm"}, {"bound", "bound"}},
                   .shown = Shown::in_json};
  for (const std::string& variant : options.variants) {
    table.rows.push_back({variant, logit_bound(options, variant)});
  }
  return table;
}

lab::Table points_table(const Measured& measured) {
  lab::Table table{.key = "points",
                   .title = "",
                   .columns = {{"qk_norm", "qk-norm"},
                               {"scale", "scale"},
                               {"seed", "seed"},
                               {"largest_logit", "largest logit"},
                               {"entropy", "entropy"},
                               {"one_hot", "one-hot"},
                               {"query_key_grad_norm", "gradient"}},
                   .shown = Shown::in_json};
  for (const Point& point : measured.points) {
    table.rows.push_back({point.variant, point.scale, point.seed, point.largest_logit,
                          point.entropy, point.one_hot, point.query_key_gradient});
  }
  return table;
}

void add(const std::vector<Summary>& rows, const std::vector<std::string>& variants,
         Spread Summary::*number, Figure& figure) {
  for (const std::string& variant : variants) {
    Series series{.name = variant, .kind = Series::Kind::band};
    for (const Summary& row : rows) {
      if (row.variant == variant) series.add(row.scale, row.*number);
    }
    figure.series.push_back(series);
  }
}

// The size of logits grows with the square of the scale; through the first point of "none".
void add_square(const Options& options, Figure& figure) {
  if (options.variants.front() != "none" || options.scales.size() < 2) return;
  const Series& none = figure.series.front();
  Series theory{.name = "scale squared", .kind = Series::Kind::theory, .x = none.x};
  for (double scale : none.x) {
    const double ratio = scale / none.x.front();
    theory.y.push_back(none.y.front() * ratio * ratio);
  }
  figure.series.push_back(theory);
}

std::vector<Figure> figures(const Measured& measured) {
  const Options& options = measured.options;
  const std::vector<Summary> rows = summaries(measured);
  const std::string caption = fmt::format(
      "Self-attention on digits, W_Q and W_K times the scale; median over {} seeds, "
      "band from the smallest to the largest.",
      options.seeds.size());
  Figure logits{.name = "largest_logit",
                .title = "Largest attention logit",
                .x_label = "scale of W_Q and W_K (logarithmic)",
                .y_label = "largest |logit|",
                .log_x = true,
                .log_y = true,
                .series = {},
                .alt =
                    "Largest logit against the scale on logarithmic axes: a rising line without "
                    "normalization, level lines with it.",
                .caption = caption};
  Figure entropy{.name = "attention_entropy",
                 .title = "Entropy of the attention weights",
                 .x_label = logits.x_label,
                 .y_label = "entropy / ln T",
                 .log_x = true,
                 .series = {},
                 .alt =
                     "Entropy of the weights against the scale: falling to zero without "
                     "normalization, level with it.",
                 .caption = caption};
  add(rows, options.variants, &Summary::largest_logit, logits);
  add_square(options, logits);
  add(rows, options.variants, &Summary::entropy, entropy);
  return {logits, entropy};
}

std::vector<std::string> what_to_look_for() {
  return {
      "Without normalization logits grow with the square of the scale, and past some hundreds the "
      "softmax gives nearly all weight to a single key. Its derivative vanishes with that. The "
      "gradient of W_Q and W_K has the scale as a factor, so it holds on for longer, and is gone "
      "where ViT-22B diverged: attention can no longer learn where to look.",
      "A norm of queries and keys takes the scale out: logits cannot pass the square root of "
      "the head's width, whatever the weights. Cosine attention bounds them by 1/tau.",
      "The gradient falls with normalization as well, as 1/scale: the output does not depend on "
      "the scale, so the gradient of a scaled weight is the gradient divided by the scale."};
}

// What must hold and does not.
std::vector<std::string> faults(const Measured& measured) {
  constexpr double kRounding = 1e-12;
  std::vector<std::string> faults;
  if (!std::all_of(measured.points.begin(), measured.points.end(),
                   [](const Point& point) { return point.all_finite(); })) {
    faults.push_back("some numbers are not finite");
  }
  for (const Point& point : measured.points) {
    const double bound = logit_bound(measured.options, point.variant);
    if (point.largest_logit <= bound * (1.0 + kRounding)) continue;
    faults.push_back(fmt::format("{} at scale {:g}: a logit of {:.4g} is above its bound {:.4g}",
                                 point.variant, point.scale, point.largest_logit, bound));
  }
  return faults;
}

}  // namespace

lab::Results results(const Measured& measured) {
  const Options& options = measured.options;
  const std::vector<std::string> wrong = faults(measured);
  return {.title = "Attention logits against the size of the query and key weights",
          .heading = fmt::format("width {}, {} heads, {} images, seeds [{}]", options.width,
                                 options.heads, options.images, fmt::join(options.seeds, ", ")),
          .look_for = what_to_look_for(),
          .tables = {summary_table(measured), bounds_table(options), points_table(measured)},
          .figures = figures(measured),
          .exit_code = wrong.empty() ? 0 : 1,
          .exit_message = fmt::format("{}", fmt::join(wrong, "\nattention_logits: "))};
}

}  // namespace normlab::attention_logits
