#pragma once

#include "experiments/attention_logits/attention_logits.hpp"
#include "experiments/lab/report/report.hpp"
#include "experiments/lab/stats/statistics.hpp"

// What the table, the figures and the page of attention_logits share.
namespace normlab {

// The cells of one variant and scale, over seeds.
struct AttentionLogitsRow {
  std::string variant;
  double scale;
  Spread largest_logit, entropy, one_hot, gradient;
};
std::vector<AttentionLogitsRow> rows_of(const AttentionLogitsResult& result);

std::vector<Figure> figures_of(const AttentionLogitsResult& result);
// `command` is printed in the page.
Report report_of(const AttentionLogitsResult& result, const std::string& command);

}  // namespace normlab
