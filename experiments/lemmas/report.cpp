// The page of lemmas. Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lemmas/verdict.hpp"

namespace normlab {

namespace {

Series theory_line(const std::string& label) { return {label, Series::Kind::theory, {}, {}}; }

void add(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

Figure last_gradient_figure(const LemmaResult& result, bool in_depth) {
  Figure figure{in_depth ? "lemmas_gradient_by_depth" : "lemmas_gradient_by_width",
                fmt::format("Last layer's gradient against the {}", in_depth ? "depth" : "width"),
                in_depth ? "layers L (logarithmic)" : "width d (logarithmic)",
                "gradient norm of the last W2",
                true,
                true,
                {},
                {},
                {}};
  std::vector<std::int64_t> values = in_depth ? result.options.depths : result.options.widths;
  std::sort(values.begin(), values.end());
  for (Placement placement : {Placement::post, Placement::pre}) {
    Series seeds{name(placement) + "-norm, seeds", Series::Kind::points, {}, {}};
    Series theory = theory_line(name(placement) + "-norm, theory");
    for (std::int64_t value : values) {
      const LastGradient at = last_gradient_at(result, placement, in_depth, value);
      const auto x = static_cast<double>(value);
      for (double norm : at.seeds) add(seeds, x, norm);
      add(theory, x, at.theory);
    }
    figure.series.push_back(theory);
    figure.series.push_back(seeds);
  }
  figure.alt =
      "Norm of the last layer's gradient on logarithmic axes: points of the seeds around a "
      "theory line for each placement.";
  figure.caption = in_depth ? "Theorem 1 bounds post-norm's by a constant in L and pre-norm's by "
                              "one over the root of L."
                            : "Theorem 1 bounds both by a constant times d √(ln d); they grow like "
                              "the root of d.";
  return figure;
}

Figure stream_figure(const LemmaResult& result, Placement placement) {
  const std::int64_t layers =
      *std::max_element(result.options.depths.begin(), result.options.depths.end());
  Figure figure{"lemmas_stream_" + name(placement),
                fmt::format("Lemma 2, {}-norm, {} layers", name(placement), layers),
                "layer, counted from the input",
                "|x|^2 / d behind each ffn",
                false,
                false,
                {},
                {},
                {}};
  const auto add_line = [&](const std::string& label, double at_zero, double slope) {
    Series line = theory_line(label);
    for (std::int64_t l = 1; l <= layers; ++l) {
      add(line, static_cast<double>(l), at_zero + slope * static_cast<double>(l));
    }
    figure.series.push_back(line);
  };
  if (placement == Placement::post) {
    add_line("Lemma 2: 3/2", 1.5, 0.0);
  } else {
    add_line("Lemma 2: 1 + l/2", 1.0, 0.5);
    add_line("Lemma 2: 1 + 3l/2", 1.0, 1.5);
    Series theory = theory_line("mean-field theory");
    const auto blocks = forward_moments(
        setting_of(result.options, placement, layers, result.options.setting.width));
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      add(theory, static_cast<double>(l + 1), blocks[l].after_ffn.same);
    }
    figure.series.push_back(theory);
  }
  Series seeds{"seeds", Series::Kind::points, {}, {}};
  for (const LemmaCell* cell :
       cells_of(result.by_depth, placement, layers, result.options.setting.width)) {
    for (std::size_t l = 0; l < cell->measured.blocks.size(); ++l) {
      add(seeds, static_cast<double>(l + 1), cell->measured.blocks[l].after_ffn.same);
    }
  }
  figure.series.push_back(seeds);
  figure.alt =
      "Squared size of the stream against the layer: points of the seeds at the lemma's "
      "line, or between its two.";
  figure.caption = "Mean over tokens, a point per seed and layer.";
  return figure;
}

Table claims_table(const LemmaResult& result) {
  Table table{"Claims, measured ± standard error over seeds",
              {"claim", "statement", "measured", "claimed", "mean-field", "verdict"},
              {}};
  for (const Claim& claim : result.claims) {
    table.rows.push_back({claim.title, claim.statement,
                          fmt::format("{:.4f} ± {:.4f}", claim.measured.mean, claim.measured.error),
                          claimed_text(claim),
                          std::isnan(claim.theory) ? "" : fmt::format("{:.4f}", claim.theory),
                          verdict_text(claim)});
  }
  return table;
}

Table norms_table(const LemmaResult& result, bool in_depth) {
  Table table{
      fmt::format("Gradient norm of the last W2 against the {}: theory, and root mean square "
                  "over seeds ± standard error",
                  in_depth ? "depth L" : "width d"),
      {in_depth ? "L" : "d", "post, theory", "post", "pre, theory", "pre"},
      {}};
  for (const char* placement : {"post", "pre"}) {
    if (!in_depth) table.header.push_back(fmt::format("delta(0.1), {}", placement));
  }
  for (std::int64_t value : in_depth ? result.options.depths : result.options.widths) {
    auto& row = table.rows.emplace_back(1, std::to_string(value));
    for (Placement placement : {Placement::post, Placement::pre}) {
      const LastGradient at = last_gradient_at(result, placement, in_depth, value);
      row.push_back(fmt::format("{:.4f}", at.theory));
      row.push_back(fmt::format("{:.4f} ± {:.4f}", at.simulated.mean, at.simulated.error));
    }
    for (Placement placement : {Placement::post, Placement::pre}) {
      if (in_depth) continue;
      const Estimate share = share_outside(result, placement, value);
      row.push_back(fmt::format("{:.3f} ± {:.3f}", share.mean, share.error));
    }
  }
  return table;
}

}  // namespace

std::vector<Figure> figures_of(const LemmaResult& result) {
  return {stream_figure(result, Placement::post), stream_figure(result, Placement::pre),
          last_gradient_figure(result, true), last_gradient_figure(result, false)};
}

Report report_of(const LemmaResult& result, const std::string& command) {
  const MeanFieldSetting& s = result.options.setting;
  return {
      "The lemmas of Xiong et al., measured",
      command,
      {{"normlab", NORMLAB_VERSION},
       {"width d where the depth varies", std::to_string(s.width)},
       {"depths L", fmt::format("{}", fmt::join(result.options.depths, ", "))},
       {"widths d, at L = 6", fmt::format("{}", fmt::join(result.options.widths, ", "))},
       {"tokens of a sequence", std::to_string(s.tokens)},
       {"sequences", std::to_string(s.sequences)},
       {"classes", std::to_string(s.classes)},
       {"input correlation", fmt::format("{:g}", s.input.within)},
       {"seeds", fmt::format("0 to {}", result.options.seeds - 1)}},
      {"Lemmas 1 to 3 are statements about expectations in this very setting, and have to hold.",
       "Theorem 1 is an upper bound. Read as a law, post-norm's gradient would be the same at "
       "every depth and pre-norm's fall like 1/√L. The exponents say how far that is so, and "
       "the mean-field theory, in the column beside, what they should be instead."},
      figures_of(result),
      {claims_table(result), norms_table(result, true), norms_table(result, false)}};
}

}  // namespace normlab
