// The card of a norm and the table of several. Tested by
// tests/experiments/norm_card/norm_card_test.cpp.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/results/wrapped.hpp"
#include "experiments/norm_card/norm_card.hpp"
#include "nn/conformance/gradient_error.hpp"

namespace normlab::norm_card {

namespace {

using lab::Cell;
using lab::Column;
using lab::Row;
using lab::Shown;
using lab::Table;

Cell cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

std::int64_t parameter_count(const Card& card) {
  std::int64_t count = 0;
  for (const auto& [name, shape] : card.parameters) count += shape.numel();
  return count;
}

std::string parameter_list(const Card& card) {
  std::vector<std::string> parts;
  for (const auto& [name, shape] : card.parameters) parts.push_back(name + " " + shape.str());
  if (parts.empty()) return "none";
  return fmt::format("{} ({} numbers)", fmt::join(parts, ", "), parameter_count(card));
}

// "positive scale" -> "scale", "permutation of features" -> "permute", else the first word.
std::string short_name(const std::string& invariance) {
  if (invariance == "positive scale") return "scale";
  if (invariance.starts_with("permutation")) return "permute";
  return invariance.substr(0, invariance.find(' '));
}

// A line for each norm. Its invariances are in JSON and on the page as rows of their own table.
Table cards_table(const std::vector<Card>& cards) {
  const bool single = cards.size() == 1;
  Table table{.key = "cards",
              .title = single ? "What it computes"
                              : "yes: declared and measured; no: not declared and violated",
              .columns = {{.key = "norm", .title = "norm"},
                          {.key = "parameters",
                           .title = "params",
                           .meaning = "how many numbers the parameters have"}},
              .shown = single ? Shown::on_page_and_in_json : Shown::everywhere};
  for (const MeasuredInvariance& invariance : cards.front().invariances) {
    table.columns.push_back(
        {.key = invariance.name, .title = short_name(invariance.name), .shown = Shown::in_text});
  }
  table.columns.push_back({.key = "null_dimension",
                           .title = "null",
                           .meaning = "dimension of the null space of a token's Jacobian"});
  table.columns.push_back(
      {.key = "equation", .title = "equation", .shown = Shown::on_page_and_in_json});
  table.columns.push_back(
      {.key = "statistics", .title = "shared statistics", .shown = Shown::on_page_and_in_json});
  table.columns.push_back({.key = "width", .title = "width", .shown = Shown::in_json});
  table.columns.push_back({.key = "eps", .title = "eps", .shown = Shown::in_json});
  for (const Card& card : cards) {
    Row row{card.entry.name, parameter_count(card)};
    for (const MeasuredInvariance& invariance : card.invariances) {
      row.emplace_back(invariance.declared);
    }
    for (const Cell& last : {Cell(card.null_dimension), Cell(card.entry.equation),
                             Cell(card.entry.statistics), Cell(card.width), cell(card.eps)}) {
      row.push_back(last);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// A table with several rows for each norm: `rows` makes those of one card, without the norm's name.
template <typename Rows>
Table long_table(const std::vector<Card>& cards, const std::string& key, const std::string& title,
                 std::vector<Column> columns, Shown shown_of_several, Rows rows) {
  const bool single = cards.size() == 1;
  columns.insert(
      columns.begin(),
      {.key = "norm", .title = "norm", .shown = single ? Shown::in_json : Shown::everywhere});
  Table table{.key = key,
              .title = title,
              .columns = std::move(columns),
              .shown = single ? Shown::everywhere : shown_of_several};
  for (const Card& card : cards) {
    for (const Row& row : rows(card)) {
      Row with_name{card.entry.name};
      with_name.insert(with_name.end(), row.begin(), row.end());
      table.rows.push_back(std::move(with_name));
    }
  }
  return table;
}

Table parameters_table(const std::vector<Card>& cards) {
  Table table = long_table(cards, "parameters", "",
                           {{.key = "name", .title = "name"}, {.key = "shape", .title = "shape"}},
                           Shown::in_json, [](const Card& card) {
                             std::vector<Row> rows;
                             for (const auto& [name, shape] : card.parameters) {
                               rows.push_back({name, shape.extents()});
                             }
                             return rows;
                           });
  table.shown = Shown::in_json;
  return table;
}

Table invariances_table(const std::vector<Card>& cards) {
  return long_table(
      cards, "invariances",
      "Invariances, as declared and as measured by check_norm (its sizes, default "
      "eps)",
      {{.key = "invariance", .title = "invariance"},
       {.key = "declared", .title = "declared"},
       {.key = "violation", .title = "violation", .format = ".1e"}},
      Shown::on_page_and_in_json, [](const Card& card) {
        std::vector<Row> rows;
        for (const MeasuredInvariance& invariance : card.invariances) {
          rows.push_back({invariance.name, invariance.declared, invariance.violation});
        }
        return rows;
      });
}

Table scale_effects_table(const std::vector<Card>& cards) {
  return long_table(cards, "scale_effects",
                    "Scaling the input: a norm that is invariant changes only through its eps",
                    {{.key = "input_scale", .title = "input scale", .format = ".0e"},
                     {.key = "size", .title = "|f(s x)| / |f(x)|", .format = ".6g"},
                     {.key = "change", .title = "|f(s x) - f(x)| / |f(x)|", .format = ".2e"}},
                    Shown::in_json, [](const Card& card) {
                      std::vector<Row> rows;
                      for (const Card::ScaleEffect& effect : card.scale_effects) {
                        rows.push_back({effect.input_scale, effect.size, effect.change});
                      }
                      return rows;
                    });
}

Table null_space_table(const std::vector<Card>& cards) {
  return long_table(cards, "null_space",
                    fmt::format("Jacobian at a random token x: null space of dimension {}",
                                cards.front().null_dimension),
                    {{.key = "direction", .title = "direction"},
                     {.key = "share",
                      .title = "share",
                      .format = ".3f",
                      .meaning = "squared part of the unit direction that lies in the null space"}},
                    Shown::in_json, [](const Card& card) {
                      std::vector<Row> rows;
                      for (const Card::NullDirection& direction : card.null_space) {
                        rows.push_back({direction.name, direction.share});
                      }
                      return rows;
                    });
}

Table singular_values_table(const std::vector<Card>& cards) {
  return long_table(
      cards, "largest_singular_values", "Its largest singular value, y = x - mean(x)",
      {{.key = "input_scale", .title = "input scale", .format = ".0e"},
       {.key = "value", .title = "largest singular value", .format = ".6g"},
       {.key = "times_size", .title = "times |y| / sqrt(d)", .format = ".6g"}},
      Shown::in_json, [](const Card& card) {
        std::vector<Row> rows;
        for (const Card::LargestSingularValue& largest : card.largest_singular_values) {
          rows.push_back({largest.input_scale, largest.value, largest.times_size});
        }
        return rows;
      });
}

Table checks_table(const std::vector<Card>& cards) {
  const auto known = [&](std::optional<double> Card::*number) {
    return std::any_of(cards.begin(), cards.end(),
                       [&](const Card& card) { return (card.*number).has_value(); })
               ? Shown::everywhere
               : Shown::in_json;
  };
  return long_table(
      cards, "checks", "Checks: relative errors of the Jacobian and of the gradient",
      {{.key = "closed_form_error",
        .title = "closed form at eps 0",
        .format = ".1e",
        .shown = known(&Card::closed_form_error)},
       {.key = "gradient_error",
        .title = "gradient",
        .format = ".1e",
        .meaning = "worst relative error against central differences"},
       {.key = "c2",
        .title = "C2",
        .format = ".1e",
        .meaning = "largest difference to LayerNorm on centred tokens",
        .shown = known(&Card::c2)}},
      Shown::on_page_and_in_json, [](const Card& card) {
        return std::vector<Row>{{cell(card.closed_form_error), card.gradient_error, cell(card.c2)}};
      });
}

std::string heading(const std::vector<Card>& cards) {
  if (cards.size() > 1) return "normalization layers";
  const Card& card = cards.front();
  const std::string eps = card.eps ? fmt::format("{:g}", *card.eps) : "its default";
  std::string text = card.entry.name + "\n";
  text += wrapped(card.entry.description) + wrapped(card.entry.equation);
  text += wrapped("shared statistics: " + card.entry.statistics);
  text += wrapped(fmt::format("width {}, eps {}", card.width, eps));
  text += wrapped("parameters: " + parameter_list(card));
  text.pop_back();
  return text;
}

// What is not as it should be.
std::vector<std::string> faults(const std::vector<Card>& cards) {
  constexpr double kHolds = 1e-4;  // eps moves scale invariance by about 1e-5
  std::vector<std::string> faults;
  for (const Card& card : cards) {
    if (!(card.gradient_error < kLargestGradientError)) {
      faults.push_back(fmt::format("{}: the gradient is wrong, relative error {:.1e}",
                                   card.entry.name, card.gradient_error));
    }
    for (const MeasuredInvariance& invariance : card.invariances) {
      if ((invariance.violation < kHolds) == invariance.declared) continue;
      faults.push_back(fmt::format("{}: {} is {}declared, but the violation is {:.1e}",
                                   card.entry.name, invariance.name,
                                   invariance.declared ? "" : "not ", invariance.violation));
    }
  }
  return faults;
}

}  // namespace

lab::Results results(const Measured& measured) {
  const std::vector<Card>& cards = measured.cards;
  const std::vector<std::string> wrong = faults(cards);
  return {
      .title = cards.size() == 1 ? cards.front().entry.description
                                 : "The cards of the normalization layers",
      .heading = heading(cards),
      .look_for = {"Scale: where the line of the output's size leaves 1, eps has taken over, and "
                   "the norm no longer hides the size of its input.",
                   "Jacobian: points on the thin line pass gradients on divided by the size of the "
                   "token, which is what makes pre-norm's gradients fall with depth.",
                   "Invariances that are not declared must be violated, and those that are must "
                   "not be: the numbers are what was measured, not what was declared."},
      .tables = {cards_table(cards), parameters_table(cards), invariances_table(cards),
                 scale_effects_table(cards), null_space_table(cards), singular_values_table(cards),
                 checks_table(cards)},
      .figures = figures(cards),
      .exit_code = wrong.empty() ? 0 : 1,
      .exit_message = fmt::format("{}", fmt::join(wrong, "\nnorm_card: "))};
}

}  // namespace normlab::norm_card
