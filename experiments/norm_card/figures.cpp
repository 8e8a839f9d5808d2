// The figures of norm_card. Tested by tests/experiments/norm_card/norm_card_test.cpp.
#include "experiments/norm_card/norm_card.hpp"

namespace normlab::norm_card {

namespace {

Figure size_figure(const std::vector<Card>& cards) {
  Figure figure{
      .name = "output_size",
      .title = "What scaling the input does to the size of the output",
      .x_label = "input scale s (logarithmic)",
      .y_label = "|f(s x)| / |f(x)|",
      .log_x = true,
      .log_y = true,
      .series = {},
      .alt =
          "Size of the output against the scale of the input on logarithmic axes: a line for "
          "each norm, level where the norm is scale invariant and falling where eps takes over.",
      .caption =
          "A scale-invariant norm is level at 1 until its eps outweighs the variance of the "
          "scaled input; the square root of eps is where that begins."};
  for (const Card& card : cards) {
    Series series{.name = card.entry.name, .kind = Series::Kind::points};
    for (const Card::ScaleEffect& effect : card.scale_effects) {
      series.x.push_back(effect.input_scale);
      series.y.push_back(effect.size);
    }
    figure.series.push_back(series);
  }
  return figure;
}

Figure jacobian_figure(const std::vector<Card>& cards) {
  Figure figure{
      .name = "largest_singular_value",
      .title = "The Jacobian of one token",
      .x_label = "input scale s (logarithmic)",
      .y_label = "largest singular value",
      .log_x = true,
      .log_y = true,
      .series = {},
      .alt =
          "Largest singular value of the Jacobian against the scale of the input on logarithmic "
          "axes: points for each norm, and a thin line for sqrt(d) / |y|.",
      .caption =
          "Lemma 3 of Xiong et al. (2020): LayerNorm's Jacobian has the largest singular "
          "value sqrt(d) / |y|, y the centred token. Where the input is ten times as large, "
          "the gradient that passes is a tenth."};
  for (const Card& card : cards) {
    Series series{.name = card.entry.name, .kind = Series::Kind::points};
    for (const Card::LargestSingularValue& largest : card.largest_singular_values) {
      series.x.push_back(largest.input_scale);
      series.y.push_back(largest.value);
    }
    figure.series.push_back(series);
  }
  Series lemma{.name = "sqrt(d) / |y| (Lemma 3)", .kind = Series::Kind::theory};
  for (const Card::LargestSingularValue& largest : cards.front().largest_singular_values) {
    lemma.x.push_back(largest.input_scale);
    lemma.y.push_back(largest.value / largest.times_size);
  }
  figure.series.push_back(lemma);
  return figure;
}

}  // namespace

std::vector<Figure> figures(const std::vector<Card>& cards) {
  return {size_figure(cards), jacobian_figure(cards)};
}

}  // namespace normlab::norm_card
