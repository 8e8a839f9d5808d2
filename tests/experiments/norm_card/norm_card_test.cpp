#include "experiments/norm_card/norm_card.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace normlab;

TEST_CASE("norm_card: LayerNorm's Jacobian is its closed form and has the null space of 1 and y") {
  const NormCard card = norm_card("layernorm", 12, std::nullopt);
  REQUIRE(card.closed_form_error.has_value());
  CHECK(*card.closed_form_error < 1e-12);
  CHECK(card.null_dimension == 2);
  for (const NormCard::NullDirection& each : card.null_space) {
    CAPTURE(each.name);
    CHECK(each.share > 0.999999);
  }
}

TEST_CASE("norm_card: RMSNorm sends x to zero and 1 not") {
  const NormCard card = norm_card("rmsnorm", 12, std::nullopt);
  CHECK(card.null_dimension == 1);
  for (const NormCard::NullDirection& each : card.null_space) {
    CAPTURE(each.name);
    CHECK((each.share > 0.999999) == (each.name == "x"));
  }
}

TEST_CASE(
    "norm_card: the largest singular value is sqrt(d) / |y| where eps does not matter (Lemma 3)") {
  const NormCard card = norm_card("layernorm", 16, 1e-12);
  for (const NormCard::LargestSingularValue& each : card.largest_singular_values) {
    CAPTURE(each.input_scale);
    CHECK(std::abs(each.times_size - 1.0) < 1e-5);
  }
}

TEST_CASE("norm_card: eps breaks scale invariance for small inputs, and DyT has none") {
  const NormCard layer_norm = norm_card("layernorm", 16, std::nullopt);
  CHECK(layer_norm.scale_effects.front().change > 0.99);
  CHECK(layer_norm.scale_effects.back().change < 1e-4);
  const NormCard dyt = norm_card("dyt", 16, std::nullopt);
  CHECK(dyt.scale_effects.back().change > 0.1);
}

TEST_CASE("norm_card: every registered norm has a card, a row that fits 80 columns and JSON") {
  std::vector<NormCard> cards;
  for (const std::string& name : nn::norms().names()) {
    cards.push_back(norm_card(name, 8, std::nullopt));
    CAPTURE(name);
    CHECK(cards.back().gradient_error < 1e-7);
    CHECK(text_of(cards.back()).find(cards.back().entry.equation) != std::string::npos);
  }
  std::istringstream lines(table_of(cards));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 80);
  CHECK(count == cards.size() + 1);
  const auto document = nlohmann::json::parse(json_of(cards));
  CHECK(document["cards"].size() == cards.size());
  CHECK(document["cards"][0]["norm"] == "layernorm");
}

TEST_CASE("norm_card: RMSNorm and LayerNorm agree on centred tokens with the same eps (C2)") {
  const NormCard card = norm_card("rmsnorm", 16, std::nullopt);
  REQUIRE(card.c2.has_value());
  CHECK(*card.c2 < 1e-14);
}

TEST_CASE("norm_card: an unknown norm, a narrow width and a bad eps are refused") {
  CHECK_THROWS_WITH_AS(norm_card("nonorm", 8, std::nullopt),
                       doctest::Contains("must be one of layernorm"), std::invalid_argument);
  CHECK_THROWS_AS(norm_card("layernorm", 2, std::nullopt), std::invalid_argument);
  CHECK_THROWS_AS(norm_card("layernorm", 8, -1.0), std::invalid_argument);
}
