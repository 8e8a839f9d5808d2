#include "experiments/lab/results/claim.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "experiments/lab/results/results.hpp"

using namespace normlab::lab;

namespace {

bool close(double got, double expected) { return std::abs(got - expected) < 1e-12; }

}  // namespace

TEST_CASE("claim: it holds within its margin and four standard errors, else says by how much not") {
  Claim claim{.title = "made up", .measured = {1.2, 0.0}, .low = 0.0, .high = 1.0};
  CHECK(close(claim.miss(), 0.2));
  CHECK_FALSE(claim.holds());
  CHECK(verdict(claim) == "does not hold here, by 0.2");
  claim.margin = 0.1;
  claim.measured.error = 0.03;
  CHECK(claim.holds());
  CHECK(verdict(claim) == "holds, 0.2 off");
  claim.measured.mean = -0.1;
  CHECK(close(claim.miss(), 0.1));
  claim.measured = {0.5, 0.0};
  CHECK(claim.miss() == 0.0);
  CHECK(verdict(claim) == "holds");
  claim.measured.mean = std::nan("");
  CHECK_FALSE(claim.holds());
}

TEST_CASE("claim: an error that is larger than the margin decides nothing at the edge") {
  // 0.29 +- 0.43 against 0.
  Claim claim{
      .title = "made up", .measured = {0.29, 0.43}, .low = 0.0, .high = 0.0, .margin = 0.02};
  CHECK_FALSE(claim.holds());
  CHECK_FALSE(claim.fails());
  CHECK(verdict(claim) == "undecided: more seeds");
  claim.measured.error = std::numeric_limits<double>::infinity();  // of one seed
  CHECK(verdict(claim) == "undecided: more seeds");
  claim.measured.error = 0.06;  // 0.29 is outside by more than four of them
  CHECK(verdict(claim) == "does not hold here, by 0.29");
  claim.measured = {0.07, 0.02};
  CHECK(verdict(claim) == "holds, 0.07 off");
  claim.measured.error = 0.021;
  CHECK(verdict(claim) == "undecided: more seeds");
  claim.resolution = 0.03;
  CHECK(verdict(claim) == "holds, 0.07 off");
}

TEST_CASE("claim: a value far inside of what is allowed needs no small error") {
  Claim claim{.title = "made up", .measured = {0.5, 0.12}, .low = -HUGE_VAL, .high = 1.0};
  CHECK(verdict(claim) == "holds");
  claim.measured.error = 0.13;
  CHECK(verdict(claim) == "undecided: more seeds");
  claim.low = 0.45;
  claim.measured.error = 0.01;
  CHECK(verdict(claim) == "holds");
  claim.measured.error = 0.02;
  CHECK(verdict(claim) == "undecided: more seeds");
}

TEST_CASE("claim: only a proved claim that fails is a failure") {
  std::vector<Claim> claims{{.title = "made up", .measured = {1.0, 0.0}, .low = 0.0, .high = 0.0}};
  CHECK(proved_claims_hold(claims));
  claims[0].must_hold = true;
  CHECK_FALSE(proved_claims_hold(claims));
  claims[0].measured.error = 1.0;  // undecided
  CHECK(proved_claims_hold(claims));
}

TEST_CASE("claim: in a table the statement stands above its numbers") {
  const Results results{.title = "",
                        .heading = "made up",
                        .tables = {claims_table({{.title = "Lemma",
                                                  .statement = "the number is one",
                                                  .measured = {1.5, 0.25},
                                                  .low = 1.0,
                                                  .high = 1.0},
                                                 {.title = "Theorem",
                                                  .statement = "another is small",
                                                  .measured = {0.25, 0.0},
                                                  .low = -HUGE_VAL,
                                                  .high = 3.0,
                                                  .theory = 0.125}})}};
  const std::string text = to_text(results);
  CHECK(text.substr(text.find('\n')) ==
        "\n\nClaims, measured (standard error)\n"
        "           measured  claimed    theory  verdict\n"
        "  Lemma: the number is one\n"
        "    1.5000 (0.2500)  1               -  undecided: more seeds\n"
        "  Theorem: another is small\n"
        "    0.2500 (0.0000)  at most 3  0.1250  holds\n");
}
