// The tables of mean_field. Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include <cmath>

#include <fmt/format.h>

#include "experiments/lab/results/wrapped.hpp"
#include "experiments/mean_field/layer_moments.hpp"

namespace normlab::mean_field {

namespace {

using lab::Shown;

std::string heading(const Measured& measured) {
  const MeanFieldSetting& s = measured.placements.front().setting;
  std::string text = fmt::format(
      "mean_field, {} network | seeds 0 to {}\n"
      "L = {}, d = {}, ffn = {}, {} tokens x {} sequences, {} classes\n"
      "input: |x|^2/d {:.4g}, correlation within a sequence {:.4g}, across {:.4g}",
      measured.options.article() ? "the article's" : "simplified", measured.options.seeds - 1,
      s.layers, s.width, s.ffn, s.tokens, s.sequences, s.classes, s.input.same,
      s.input.correlation_within(), s.input.correlation_across());
  const std::vector<std::string> broken = broken_assumptions(measured.options);
  if (broken.empty()) return text;
  text += "\nbroken assumptions:\n";
  for (const std::string& sentence : broken) text += wrapped(sentence);
  text.pop_back();
  return text;
}

lab::Column column(const Weight& weight, const std::string& what, const char* title,
                   const char* format, const char* meaning) {
  return {.key = weight.key + what, .title = title, .format = format, .meaning = meaning};
}

constexpr const char* kTheory = "by mean-field theory, of the number to its right";

lab::Table moments_table(const Comparison& comparison) {
  const std::string placement = name(comparison.setting.placement);
  lab::Table table{
      .key = "moments",
      .title = placement + ": the residual stream after each ffn, mean over seeds (standard error)",
      .columns = {{"layer", "l"}},
      .common = {{"placement", placement}}};
  for (const Moment& moment : kMoments) {
    table.columns.push_back({.key = std::string(moment.key) + "_theory",
                             .title = "theory",
                             .format = ".4f",
                             .meaning = kTheory});
    table.columns.push_back({.key = moment.key, .title = moment.title, .format = ".4f"});
  }
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    lab::Row& row = table.rows.emplace_back(1, static_cast<std::int64_t>(block + 1));
    for (const Moment& moment : kMoments) {
      const LayerMoment at_layer = layer_moment(comparison, moment, block);
      row.emplace_back(at_layer.theory);
      row.emplace_back(at_layer.simulated);
    }
  }
  return table;
}

lab::Cell error_cell(double error) { return std::isfinite(error) ? lab::Cell(error) : lab::Cell(); }

lab::Table gradients_table(const Comparison& comparison) {
  const std::string placement = name(comparison.setting.placement);
  lab::Table table{.key = "gradients",
                   .title = placement + ": ||dLoss/dW||, root mean square over seeds",
                   .columns = {{"layer", "l"}},
                   .common = {{"placement", placement}}};
  for (const Weight& weight : kWeights) {
    table.columns.push_back(column(weight, "_theory", "theory", ".4g", kTheory));
    table.columns.push_back(column(weight, "", weight.title, ".4g", ""));
    table.columns.push_back(column(weight, "_standard_error", "error", ".3f", "standard error"));
    table.columns.push_back(
        column(weight, "_ratio", "ratio", ".3f",
               "measured to expected from the seed's own gradient at the output"));
    table.columns.push_back(column(weight, "_ratio_standard_error", "its error", ".3f", ""));
    table.columns.back().shown = Shown::on_page_and_in_json;
  }
  for (std::size_t block = 0; block < comparison.blocks.size(); ++block) {
    lab::Row& row = table.rows.emplace_back(1, static_cast<std::int64_t>(block + 1));
    for (const Weight& weight : kWeights) {
      const LayerGradient at_layer = layer_gradient(comparison, weight, block);
      row.emplace_back(at_layer.theory);
      row.emplace_back(at_layer.simulated.mean);
      row.push_back(error_cell(at_layer.simulated.error));
      row.emplace_back(at_layer.ratio_from_measured.mean);
      row.push_back(error_cell(at_layer.ratio_from_measured.error));
    }
  }
  return table;
}

// --- What is for other programs only: lists have a number for each layer.

void add(const std::string& key, const PairMoments& moments, lab::Table& table, lab::Row& row) {
  for (const auto& [kind, value] : {std::pair{"_same", moments.same},
                                    {"_within", moments.within},
                                    {"_across", moments.across}}) {
    if (table.rows.empty()) table.columns.push_back({key + kind, ""});
    row.emplace_back(value);
  }
}

void add(const std::string& key, const std::vector<BlockMoments>& blocks,
         PairMoments BlockMoments::*moments, lab::Table& table, lab::Row& row) {
  for (const auto& [kind, number] : {std::pair{"_same", &PairMoments::same},
                                     {"_within", &PairMoments::within},
                                     {"_across", &PairMoments::across}}) {
    if (table.rows.empty()) table.columns.push_back({key + kind, ""});
    std::vector<double> values;
    for (const BlockMoments& block : blocks) values.push_back(block.*moments.*number);
    row.emplace_back(values);
  }
}

void add(const std::string& key, const SquaredNorms& norms, lab::Table& table, lab::Row& row) {
  for (const Weight& weight : kWeights) {
    if (table.rows.empty()) table.columns.push_back({key + weight.key + "_sq_norm", ""});
    row.emplace_back(norms.*weight.squares);
  }
}

void add(const PairMoments& input, const std::vector<BlockMoments>& blocks,
         const PairMoments& output_gradient, const SquaredNorms& gradients, lab::Table& table,
         lab::Row& row) {
  add("input", input, table, row);
  add("block_input", blocks, &BlockMoments::input, table, row);
  add("after_attention", blocks, &BlockMoments::after_attention, table, row);
  add("after_ffn", blocks, &BlockMoments::after_ffn, table, row);
  add("output_gradient", output_gradient, table, row);
  add("", gradients, table, row);
}

lab::Table theory_table(const Measured& measured) {
  lab::Table table{
      .key = "theory", .title = "", .columns = {{"placement", ""}}, .shown = Shown::in_json};
  for (const Comparison& comparison : measured.placements) {
    lab::Row row{name(comparison.setting.placement)};
    add(comparison.setting.input, comparison.blocks, comparison.output_gradient,
        comparison.expected, table, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

lab::Table seeds_table(const Measured& measured) {
  lab::Table table{.key = "seeds",
                   .title = "",
                   .columns = {{"placement", ""}, {"seed", ""}},
                   .shown = Shown::in_json};
  for (const Comparison& comparison : measured.placements) {
    for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
      const MeanFieldMeasurement& m = comparison.measured[seed];
      lab::Row row{name(comparison.setting.placement), static_cast<std::int64_t>(seed)};
      add(m.input, m.blocks, m.output_gradient, m.gradients, table, row);
      add("expected_", comparison.expected_from_measured[seed], table, row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

lab::Table assumptions_table(const Options& options) {
  lab::Table table{.key = "broken_assumptions",
                   .title = "",
                   .columns = {{"assumption", ""}},
                   .shown = Shown::in_json};
  for (const std::string& sentence : broken_assumptions(options)) table.rows.push_back({sentence});
  return table;
}

std::vector<std::string> what_to_look_for(const Options& options) {
  std::vector<std::string> sentences{
      "Residual stream: in a wide network the points lie on the theory's line. Post-norm: 3/2 in "
      "every layer, as Lemma 2 has it. Pre-norm: between the limits of Lemma 2, near the upper one "
      "where tokens are alike. Res-post: each branch adds exactly 1, so 1 + 2 l.",
      "Correlations: tokens become alike with depth, those of one sequence first.",
      "Gradients: the line is the root of the expected square. The ratio in the tables starts from "
      "each seed's own gradient at the output and so leaves out the scatter that the classifier "
      "and the labels add.",
  };
  for (const std::string& broken : broken_assumptions(options)) {
    sentences.push_back("Broken assumption. " + broken);
  }
  return sentences;
}

// What the options of one network are in the other.
std::vector<lab::Setting> derived(const Measured& measured) {
  const MeanFieldSetting& s = measured.placements.front().setting;
  std::vector<lab::Setting> settings{
      {"width", "width d of a token", s.width},
      {"ffn", "width of the feed-forward network", s.ffn},
      {"tokens", "tokens of a sequence", s.tokens},
      {"sequences", "sequences", s.sequences},
      {"classes", "classes", s.classes},
      {"one_label_per_sequence", "all tokens of a sequence share a label",
       s.one_label_per_sequence}};
  if (measured.options.article()) {
    settings.push_back({"ffn_ratio", "", {}});
    settings.push_back({"input_correlation", "", {}});
  } else {
    settings.push_back({"images", "", {}});
  }
  return settings;
}

}  // namespace

lab::Results results(const Measured& measured) {
  lab::Results results{.title = "Mean-field theory beside simulation",
                       .heading = heading(measured),
                       .look_for = what_to_look_for(measured.options),
                       .figures = figures(measured),
                       .config = derived(measured)};
  for (const Comparison& comparison : measured.placements) {
    results.tables.push_back(moments_table(comparison));
    results.tables.push_back(gradients_table(comparison));
  }
  results.tables.push_back(theory_table(measured));
  results.tables.push_back(seeds_table(measured));
  results.tables.push_back(assumptions_table(measured.options));
  if (!measured.all_finite()) {
    results.exit_code = 1;
    results.exit_message = "some numbers are not finite";
  }
  return results;
}

}  // namespace normlab::mean_field
