// Tested by tests/experiments/lab/results/claim_test.cpp.
#include "experiments/lab/results/claim.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace normlab::lab {

namespace {

std::string allowed_text(const Claim& claim) {
  if (claim.low == claim.high) return fmt::format("{:.4g}", claim.low);
  if (std::isinf(claim.low)) return fmt::format("at most {:.4g}", claim.high);
  return fmt::format("{:.4g} to {:.4g}", claim.low, claim.high);
}

}  // namespace

double Claim::miss() const {
  if (std::isnan(measured.mean)) return measured.mean;
  return std::max({0.0, low - measured.mean, measured.mean - high});
}

bool Claim::fails() const { return !(miss() <= margin + 4.0 * measured.error); }

bool Claim::holds() const {
  const double inside = std::min(measured.mean - low, high - measured.mean);
  const bool far_inside = 4.0 * measured.error <= inside + margin;
  return !fails() && (far_inside || measured.error <= std::max(margin, resolution));
}

bool proved_claims_hold(const std::vector<Claim>& claims) {
  return std::all_of(claims.begin(), claims.end(),
                     [](const Claim& claim) { return !claim.must_hold || !claim.fails(); });
}

std::string verdict(const Claim& claim) {
  const double miss = claim.miss();
  if (claim.fails()) return fmt::format("does not hold here, by {:.3g}", miss);
  if (!claim.holds()) return "undecided: more seeds";
  return miss == 0.0 ? "holds" : fmt::format("holds, {:.2g} off", miss);
}

Table claims_table(const std::vector<Claim>& claims) {
  Table table{.key = "claims",
              .title = "Claims, measured (standard error)",
              .columns = {{.key = "title", .title = "claim", .above_row = true},
                          {.key = "statement", .title = "statement", .above_row = true},
                          {.key = "measured", .title = "measured", .format = ".4f"},
                          {.key = "claimed", .title = "claimed"},
                          {.key = "theory", .title = "theory", .format = ".4f"},
                          {.key = "verdict", .title = "verdict"}}};
  for (const char* key : {"low", "high", "margin", "resolution", "must_hold", "miss", "holds"}) {
    table.columns.push_back({.key = key, .title = key, .shown = Shown::in_json});
  }
  for (const Claim& claim : claims) {
    table.rows.push_back({claim.title, claim.statement, claim.measured, allowed_text(claim),
                          std::isnan(claim.theory) ? Cell() : Cell(claim.theory), verdict(claim),
                          claim.low, claim.high, claim.margin, claim.resolution, claim.must_hold,
                          claim.miss(), claim.holds()});
  }
  return table;
}

}  // namespace normlab::lab
