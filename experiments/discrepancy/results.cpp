// The tables of discrepancy. Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/discrepancy/measurement.hpp"
#include "experiments/discrepancy/summary.hpp"

namespace normlab::discrepancy {

namespace {

using lab::Shown;
using lab::Table;

constexpr Shown kPage = Shown::on_page_and_in_json;

Table ablations_table(const Options& options) {
  Table table{.key = "ablations",
              .title = "The ablations",
              .columns = {{.key = "ablation", .title = "ablation"},
                          {.key = "setup", .title = "setup", .shown = Shown::in_text},
                          {.key = "base", .title = "changes", .shown = kPage},
                          {.key = "change", .title = "what", .shown = kPage},
                          {.key = "seeds", .title = "seeds", .shown = Shown::in_json}}};
  for (const lab::Column& column : setup_columns()) table.columns.push_back(column);
  for (const Ablation& ablation : options.ablations) {
    const std::string sentence = ablation.base.empty()
                                     ? ablation.change
                                     : fmt::format("{}, but {}", ablation.base, ablation.change);
    lab::Row row{ablation.name, sentence, ablation.base, ablation.change,
                 options.seeds_of(ablation)};
    for (lab::Cell& cell : setup_cells(ablation.setup)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table last_layer_table(const std::vector<Summary>& summaries, Placement placement,
                       const std::vector<std::int64_t>& layers) {
  Table table{
      .key = "last_layer",
      .title = name(placement) +
               "-norm, last layer: gradient norm of W2, and of the deepest networks the\nshares "
               "of its square and the similarity of tokens",
      .columns = {{"ablation", "ablation"}},
      .common = {{"placement", name(placement)}}};
  for (const std::int64_t depth : layers) {
    table.columns.push_back({.key = fmt::format("w2_grad_norm_{}_layers", depth),
                             .title = fmt::format("L={}", depth),
                             .format = ".3g"});
  }
  const auto add = [&](const char* key, const char* title, const char* format,
                       const char* meaning) {
    table.columns.push_back({.key = key, .title = title, .format = format, .meaning = meaning});
  };
  add("self", "self", ".2f", "share of each token by itself");
  add("same_sequence", "same", ".2f", "share of pairs of tokens in a sequence");
  add("across_sequences", "across", ".2f", "share of pairs across sequences");
  add("similarity_within", "cos", ".3f",
      "cosine similarity of two tokens entering the last block: first in a sequence, then across");
  add("similarity_across", "cos", ".3f", "");
  for (const Summary& s : summaries) {
    if (s.placement != placement) continue;
    lab::Row row{s.ablation.name};
    for (const Estimate& norm : s.last_norm) row.emplace_back(norm.mean);
    for (const double value :
         {s.self, s.same_sequence, s.across_sequences, s.similarity_within, s.similarity_across}) {
      row.emplace_back(value);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table effects_table(const std::vector<Summary>& summaries, Placement placement,
                    std::int64_t profile_layers) {
  const auto column = [](const char* key, const char* title, const char* meaning) {
    return lab::Column{.key = key, .title = title, .format = ".2f", .meaning = meaning};
  };
  Table table{.key = "effects",
              .title = fmt::format("{}-norm: what each change does; top/bottom at {} layers\n"
                                   "(in parentheses the standard error over seeds)",
                                   name(placement), profile_layers),
              .columns = {{"ablation", "ablation"},
                          column("exponent", "exponent",
                                 "the last W2's gradient norm grows with the depth as L^exponent"),
                          column("exponent_change", "change", "of the exponent"),
                          column("top_bottom", "top/bottom", "last layer's norm / first layer's"),
                          column("top_bottom_factor", "factor", "change of top/bottom")},
              .common = {{"placement", name(placement)}}};
  for (const Summary& s : summaries) {
    if (s.placement != placement) continue;
    table.rows.push_back(
        {s.ablation.name, s.exponent, s.exponent_change, s.top_bottom, s.top_bottom_factor});
  }
  return table;
}

Table points_table(const Measured& measured) {
  Table table{.key = "points",
              .title = "",
              .columns = {{"ablation", "ablation"},
                          {"placement", "placement"},
                          {"layers", "layers"},
                          {"seed", "seed"}},
              .shown = Shown::in_json};
  for (const lab::Column& column : measurement_columns()) table.columns.push_back(column);
  for (const Point& point : measured.points) {
    const Configuration& configuration = point.configuration;
    lab::Row row{configuration.ablation, name(configuration.placement), configuration.layers,
                 configuration.seed};
    for (lab::Cell& cell : measurement_cells(point.measured)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string heading(const Options& options) {
  const auto large = std::min(static_cast<std::size_t>(options.large_seeds), options.seeds.size());
  return fmt::format("depths {}\n  seeds {} (width 256 and more: the first {})",
                     fmt::join(options.layers, " "), fmt::join(options.seeds, " "), large);
}

std::vector<std::string> what_to_look_for() {
  return {
      "Depth: tokens of all sequences become alike as they pass through blocks, and where the "
      "untrained classifier prefers some classes, alike tokens push W2 in one direction. If that "
      "is why post-norm's last gradient grows with depth, it must stop growing where either "
      "factor is taken away: many classes with a label per token, or logits near zero.",
      "Labels: if it were that all tokens of an image share a label, a label per token alone would "
      "stop the growth.",
      "Layers: if the flat profile is due to self-attention, which hands the mean gradient on "
      "undiminished, only a branch that reads another stream can bring a slope.",
  };
}

}  // namespace

lab::Results results(const Measured& measured) {
  const Options& options = measured.options;
  const std::vector<Summary> rows = summaries(measured);
  lab::Results results{.title = "What separates the article's measurement from the paper's",
                       .heading = heading(options),
                       .look_for = what_to_look_for(),
                       .tables = {ablations_table(options)},
                       .figures = figures(measured)};
  for (const Placement placement : {Placement::post, Placement::pre}) {
    results.tables.push_back(last_layer_table(rows, placement, options.layers));
  }
  for (const Placement placement : {Placement::post, Placement::pre}) {
    results.tables.push_back(effects_table(rows, placement, options.profile_layers()));
  }
  results.tables.push_back(points_table(measured));
  if (!measured.all_finite()) {
    results.exit_code = 1;
    results.exit_message = "some gradient norms are not finite";
  }
  return results;
}

}  // namespace normlab::discrepancy
