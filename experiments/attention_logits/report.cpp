// The page of attention_logits. Tested by
// tests/experiments/attention_logits/attention_logits_test.cpp.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/attention_logits/rows.hpp"

namespace normlab {

namespace {

void add(const AttentionLogitsResult& result, Spread AttentionLogitsRow::*number, Figure& figure) {
  const std::vector<AttentionLogitsRow> rows = rows_of(result);
  for (const std::string& variant : result.options.variants) {
    Series series{variant, Series::Kind::band, {}, {}, {}, {}};
    for (const AttentionLogitsRow& row : rows) {
      if (row.variant != variant) continue;
      series.x.push_back(row.scale);
      series.y.push_back((row.*number).median);
      series.low.push_back((row.*number).smallest);
      series.high.push_back((row.*number).largest);
    }
    figure.series.push_back(series);
  }
}

// The size of logits grows with the square of the scale; through the first point of "none".
void add_square(const AttentionLogitsResult& result, Figure& figure) {
  if (result.options.variants.front() != "none" || result.options.scales.size() < 2) return;
  const Series& none = figure.series.front();
  Series theory{"scale squared", Series::Kind::theory, none.x, {}, {}, {}};
  for (double scale : none.x) {
    const double ratio = scale / none.x.front();
    theory.y.push_back(none.y.front() * ratio * ratio);
  }
  figure.series.push_back(theory);
}

Table table_of(const AttentionLogitsResult& result) {
  Table table{"Median over seeds [smallest, largest]",
              {"query-key normalization", "scale", "largest logit", "entropy / ln T",
               "share of one-hot queries", "gradient of W_Q, W_K"},
              {}};
  const auto text = [](const Spread& s) {
    return fmt::format("{:.4g} [{:.4g}, {:.4g}]", s.median, s.smallest, s.largest);
  };
  for (const AttentionLogitsRow& row : rows_of(result)) {
    table.rows.push_back({row.variant, fmt::format("{:g}", row.scale), text(row.largest_logit),
                          text(row.entropy), text(row.one_hot), text(row.gradient)});
  }
  return table;
}

}  // namespace

std::vector<Figure> figures_of(const AttentionLogitsResult& result) {
  const std::string caption = fmt::format(
      "Self-attention on digits, W_Q and W_K times the scale; median over {} seeds, "
      "band from the smallest to the largest.",
      result.options.seeds.size());
  Figure logits{"largest_logit",
                "Largest attention logit",
                "scale of W_Q and W_K (logarithmic)",
                "largest |logit|",
                true,
                true,
                {},
                "Largest logit against the scale on logarithmic axes: a rising line without "
                "normalization, level lines with it.",
                caption};
  Figure entropy{"attention_entropy",
                 "Entropy of the attention weights",
                 "scale of W_Q and W_K (logarithmic)",
                 "entropy / ln T",
                 true,
                 false,
                 {},
                 "Entropy of the weights against the scale: falling to zero without normalization, "
                 "level with it.",
                 caption};
  add(result, &AttentionLogitsRow::largest_logit, logits);
  add_square(result, logits);
  add(result, &AttentionLogitsRow::entropy, entropy);
  return {logits, entropy};
}

Report report_of(const AttentionLogitsResult& result, const std::string& command) {
  const AttentionLogitsOptions& options = result.options;
  return {
      "Attention logits against the size of the query and key weights",
      command,
      {{"normlab", NORMLAB_VERSION},
       {"width d", std::to_string(options.width)},
       {"heads", std::to_string(options.heads)},
       {"images", std::to_string(options.images)},
       {"seeds", fmt::format("{}", fmt::join(options.seeds, ", "))}},
      {"Without normalization logits grow with the square of the scale, and past some hundreds the "
       "softmax gives nearly all weight to one key. Its derivative goes with that. The gradient of "
       "W_Q and W_K has the scale as a factor, so that it holds on for longer, and is gone where "
       "ViT-22B diverged: attention can no longer learn where to look.",
       "A norm of queries and keys takes the scale out: logits cannot pass the square root of "
       "the head's width, whatever the weights. Cosine attention bounds them by 1/tau.",
       "The gradient falls with normalization, too, as 1/scale: the output does not depend on "
       "the scale, so the gradient of a scaled weight is the gradient divided by the scale."},
      figures_of(result),
      {table_of(result)}};
}

}  // namespace normlab
