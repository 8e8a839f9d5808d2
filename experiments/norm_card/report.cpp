// The page of norm_card. Tested by tests/experiments/norm_card/norm_card_test.cpp.
#include "experiments/norm_card/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace normlab {

namespace {

std::string names_of(const std::vector<NormCard>& cards) {
  std::vector<std::string> names;
  for (const NormCard& card : cards) names.push_back(card.entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Figure size_figure(const std::vector<NormCard>& cards) {
  Figure figure{"output_size",
                "What scaling the input does to the size of the output",
                "input scale s (logarithmic)",
                "|f(s x)| / |f(x)|",
                true,
                true,
                {},
                "Size of the output against the scale of the input on logarithmic axes: a line for "
                "each norm, level where the norm is scale invariant and falling where eps takes "
                "over.",
                "A scale-invariant norm is level at 1 until its eps outweighs the variance of the "
                "scaled input; the square root of eps is where that begins."};
  for (const NormCard& card : cards) {
    Series series{card.entry.name, Series::Kind::points, {}, {}, {}, {}};
    for (const NormCard::ScaleEffect& each : card.scale_effects) {
      series.x.push_back(each.input_scale);
      series.y.push_back(each.size);
    }
    figure.series.push_back(series);
  }
  return figure;
}

Figure jacobian_figure(const std::vector<NormCard>& cards) {
  Figure figure{"largest_singular_value",
                "The Jacobian of one token",
                "input scale s (logarithmic)",
                "largest singular value",
                true,
                true,
                {},
                "Largest singular value of the Jacobian against the scale of the input on "
                "logarithmic axes: points for each norm, and a thin line for sqrt(d) / |y|.",
                "Lemma 3 of Xiong et al. (2020): LayerNorm's Jacobian has the largest singular "
                "value sqrt(d) / |y|, y the centred token. Where the input is ten times as large, "
                "the gradient that passes is a tenth."};
  for (const NormCard& card : cards) {
    Series series{card.entry.name, Series::Kind::points, {}, {}, {}, {}};
    for (const NormCard::LargestSingularValue& each : card.largest_singular_values) {
      series.x.push_back(each.input_scale);
      series.y.push_back(each.value);
    }
    figure.series.push_back(series);
  }
  Series lemma{"sqrt(d) / |y| (Lemma 3)", Series::Kind::theory, {}, {}, {}, {}};
  for (const NormCard::LargestSingularValue& each : cards.front().largest_singular_values) {
    lemma.x.push_back(each.input_scale);
    lemma.y.push_back(each.value / each.times_size);
  }
  figure.series.push_back(lemma);
  return figure;
}

Table overview(const std::vector<NormCard>& cards) {
  Table table{"What each computes", {"norm", "equation", "shared statistics", "null space"}, {}};
  for (const NormCard& card : cards) {
    table.rows.push_back({card.entry.name, card.entry.equation, card.entry.statistics,
                          fmt::format("dimension {}", card.null_dimension)});
  }
  return table;
}

Table invariances(const std::vector<NormCard>& cards) {
  Table table{"Invariances: promised or not, and the violation measured", {"invariance"}, {}};
  for (const NormCard& card : cards) table.header.push_back(card.entry.name);
  for (std::size_t i = 0; i < cards.front().invariances.size(); ++i) {
    std::vector<std::string> row{cards.front().invariances[i].name};
    for (const NormCard& card : cards) {
      const MeasuredInvariance& each = card.invariances[i];
      row.push_back(fmt::format("{} ({:.0e})", each.declared ? "yes" : "no", each.violation));
    }
    table.rows.push_back(row);
  }
  return table;
}

Table checks(const std::vector<NormCard>& cards) {
  Table table{"Checks", {"norm", "gradient check", "closed form of the Jacobian", "C2"}, {}};
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1e}", *value) : std::string("not applicable");
  };
  for (const NormCard& card : cards) {
    table.rows.push_back({card.entry.name, fmt::format("{:.1e}", card.gradient_error),
                          number(card.closed_form_error), number(card.c2)});
  }
  return table;
}

}  // namespace

std::vector<Figure> figures_of(const std::vector<NormCard>& cards) {
  return {size_figure(cards), jacobian_figure(cards)};
}

Report report_of(const std::vector<NormCard>& cards, const std::string& command) {
  const NormCard& first = cards.front();
  const std::string title =
      cards.size() == 1 ? first.entry.description : "The cards of the normalization layers";
  return {title,
          command,
          {{"normlab", NORMLAB_VERSION},
           {"norms", names_of(cards)},
           {"width d", std::to_string(first.width)},
           {"eps", first.eps ? fmt::format("{:g}", *first.eps) : "each layer's own"}},
          {"Scale: where the line of the output's size leaves 1, eps has taken over, and the norm "
           "no longer hides the size of its input.",
           "Jacobian: points on the thin line pass gradients on divided by the size of the token, "
           "which is what makes pre-norm's gradients fall with depth.",
           "Invariances that are not promised must be violated, and those that are must not be: "
           "the numbers are what was measured, not what was declared."},
          figures_of(cards),
          {overview(cards), invariances(cards), checks(cards)}};
}

}  // namespace normlab
