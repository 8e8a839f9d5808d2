#include "experiments/norm_card/norm_card.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace normlab;
using namespace normlab::norm_card;

namespace {

Measured measured(const Options& options) { return measure(options, {}); }

Card card_of(const std::string& norm, std::int64_t width, std::optional<double> eps = {}) {
  return measured({{norm}, width, eps}).cards.at(0);
}

}  // namespace

TEST_CASE("norm_card: LayerNorm's Jacobian is its closed form and has the null space of 1 and y") {
  const Card card = card_of("layernorm", 12);
  REQUIRE(card.closed_form_error.has_value());
  CHECK(*card.closed_form_error < 1e-12);
  CHECK(card.null_dimension == 2);
  for (const Card::NullDirection& each : card.null_space) {
    CAPTURE(each.name);
    CHECK(each.share > 0.999999);
  }
}

TEST_CASE("norm_card: RMSNorm sends x to zero and 1 not") {
  const Card card = card_of("rmsnorm", 12);
  CHECK(card.null_dimension == 1);
  for (const Card::NullDirection& each : card.null_space) {
    CAPTURE(each.name);
    CHECK((each.share > 0.999999) == (each.name == "x"));
  }
}

TEST_CASE(
    "norm_card: the largest singular value is sqrt(d) / |y| where eps does not matter (Lemma 3)") {
  const Card card = card_of("layernorm", 16, 1e-12);
  for (const Card::LargestSingularValue& each : card.largest_singular_values) {
    CAPTURE(each.input_scale);
    CHECK(std::abs(each.times_size - 1.0) < 1e-5);
  }
}

TEST_CASE("norm_card: eps breaks scale invariance for small inputs, and DyT has none") {
  const Card layer_norm = card_of("layernorm", 16);
  CHECK(layer_norm.scale_effects.front().change > 0.99);
  CHECK(layer_norm.scale_effects.back().change < 1e-4);
  const Card dyt = card_of("dyt", 16);
  CHECK(dyt.scale_effects.back().change > 0.1);
}

TEST_CASE("norm_card: every registered norm has a card, a row that fits 80 columns and JSON") {
  const auto narrow = [](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
  };
  const Measured all = measured({nn::norms().names(), 8});
  for (const Card& card : all.cards) {
    CAPTURE(card.entry.name);
    CHECK(card.gradient_error < 1e-7);
    const std::string text = lab::to_text(results({{{card.entry.name}, 8}, {card}}));
    if (card.entry.equation.size() < 78) {  // a longer one is wrapped
      CHECK(text.find(card.entry.equation) != std::string::npos);
    }
    CHECK(text.find("null space of dimension") != std::string::npos);
    narrow(text);
  }
  const lab::Results found = results(all);
  CHECK(found.exit_code == 0);
  const std::string table = lab::to_text(found);
  narrow(table);
  CHECK(table.find("null space of dimension") == std::string::npos);
  const nlohmann::json tables = nlohmann::json::parse(lab::to_json(found))["tables"];
  REQUIRE(tables["cards"].size() == all.cards.size());
  CHECK(tables["cards"][0]["norm"] == "layernorm");
  CHECK(tables["cards"][0]["parameters"] == 16);
  CHECK(tables["cards"][0]["eps"] == nullptr);
  CHECK(tables["invariances"].size() == 7 * all.cards.size());
  CHECK(tables["parameters"][1] ==
        nlohmann::json{{"norm", "layernorm"}, {"name", "bias"}, {"shape", {8}}});
  // Every row says which norm it is of.
  for (const auto& [case_key, rows] : tables.items()) {
    const auto& key = case_key;
    for (const nlohmann::json& row : rows) CHECK_MESSAGE(row.contains("norm"), key);
  }
}

TEST_CASE("norm_card: a gradient and an invariance that are not right are told") {
  Measured made_up = measured({{"layernorm"}, 8});
  made_up.cards[0].gradient_error = 0.5;
  made_up.cards[0].invariances[0].violation = 0.25;
  const lab::Results found = results(made_up);
  CHECK(found.exit_code == 1);
  CHECK(found.exit_message ==
        "layernorm: the gradient is wrong, relative error 5.0e-01\n"
        "norm_card: layernorm: shift is declared, but the violation is 2.5e-01");
}

TEST_CASE("norm_card: RMSNorm and LayerNorm agree on centred tokens with the same eps (C2)") {
  const Card card = card_of("rmsnorm", 16);
  REQUIRE(card.c2.has_value());
  CHECK(*card.c2 < 1e-14);
}

TEST_CASE("norm_card: an unknown norm, a narrow width and a bad eps are refused") {
  CHECK_THROWS_WITH_AS(check({{"nonorm"}, 8}), doctest::Contains("must be one of layernorm"),
                       std::invalid_argument);
  CHECK_THROWS_AS(check({{"layernorm"}, 2}), std::invalid_argument);
  CHECK_THROWS_AS(check({{"layernorm"}, 8, -1.0}), std::invalid_argument);
  CHECK_THROWS_AS(check({{"layernorm", "layernorm"}, 8}), std::invalid_argument);
}
