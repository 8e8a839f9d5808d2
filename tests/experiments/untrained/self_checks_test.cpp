#include "experiments/untrained/self_checks.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace normlab;

namespace {

Tokens some_tokens(std::int64_t images = 3) { return tokens_of(load_digits().range(0, images)); }

}  // namespace

TEST_CASE("check_finite_differences: first and last layer of both placements pass") {
  const Tokens tokens = some_tokens();
  for (const char* norm : {"layernorm", "rmsnorm", "batchnorm"}) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      const auto checks = check_finite_differences(
          {.d_model = 8, .nhead = 2, .dim_feedforward = 12, .norm = norm}, placement, 6, tokens);
      REQUIRE(checks.size() == 2);
      CHECK(checks[0].layer == 1);
      CHECK(checks[1].layer == 6);
      for (const FiniteDifferenceCheck& check : checks) {
        CHECK(check.placement == placement);
        CHECK(check.passed());
        CHECK(check.relative_error() < 1e-7);
        CHECK(std::abs(check.analytic) > 1e-4);  // something was compared
      }
    }
  }
}

TEST_CASE("check_finite_differences: a stack of one layer is checked once") {
  const auto checks = check_finite_differences({.d_model = 8, .nhead = 2, .dim_feedforward = 12},
                                               Placement::pre, 1, some_tokens());
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].layer == 1);
  CHECK(checks[0].passed());
}

TEST_CASE("FiniteDifferenceCheck: a gradient that is wrong by a millionth fails") {
  const auto checks = check_finite_differences({.d_model = 8, .nhead = 2, .dim_feedforward = 12},
                                               Placement::pre, 6, some_tokens());
  for (FiniteDifferenceCheck check : checks) {
    for (const double factor : {1.0 + 1e-6, 1.0 - 1e-6, 1.1, 0.0, -1.0}) {
      FiniteDifferenceCheck wrong = check;
      wrong.analytic *= factor;
      CHECK_MESSAGE(!wrong.passed(), "factor ", factor, ", gradient ", check.analytic);
    }
  }
}

TEST_CASE("FiniteDifferenceCheck: the two tolerances by hand") {
  const auto check = [](double analytic, double numerical) {
    return FiniteDifferenceCheck{Placement::pre, 1, analytic, numerical, 2.0};
  };
  CHECK(check(1.0 + 0.9e-7, 1.0).passed());
  CHECK_FALSE(check(1.0 + 1.1e-7, 1.0).passed());
  // Losses of 2 are known to about 4e-16, their quotient with 1e-6 to some 1e-9.
  CHECK(check(1e-9, 0.0).passed());
  CHECK_FALSE(check(1e-8, 0.0).passed());
  CHECK(check(0.0, 0.0).passed());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(check(nan, 1.0).passed());
  CHECK_FALSE(check(1.0, nan).passed());
  CHECK(check(1.5, -2.0).relative_error() == 1.75);
}

TEST_CASE("self-checks: degenerate widths do not fail falsely") {
  // Of one number LayerNorm keeps nothing, of two only which is larger: gradients near or at zero.
  const Tokens tokens = some_tokens();
  for (const std::int64_t width : {1, 2, 3, 4, 5, 7}) {
    CAPTURE(width);
    const EncoderModel::Config config{.d_model = width, .nhead = 1, .dim_feedforward = 2};
    for (const Placement placement : {Placement::post, Placement::pre}) {
      for (const auto& check : check_finite_differences(config, placement, 6, tokens)) {
        CHECK_MESSAGE(check.passed(), name(placement), " ", check.layer, ": ", check.analytic,
                      " for ", check.numerical);
      }
    }
    const NormAgreement agreement = check_norm_agreement(config, tokens);
    CHECK_MESSAGE(agreement.passed(), agreement.centred, " ", agreement.uncentred);
  }
}

TEST_CASE("check_norm_agreement: equal on centred tokens, far apart on others") {
  const NormAgreement agreement =
      check_norm_agreement({.d_model = 64, .nhead = 4, .dim_feedforward = 4}, some_tokens(256));
  CHECK(agreement.centred < 2e-15);
  CHECK(agreement.uncentred > 0.1);
}

TEST_CASE("NormAgreement: fails when the norms differ on centred or agree on other tokens") {
  CHECK(NormAgreement{1e-15, 0.5}.passed());
  CHECK_FALSE(NormAgreement{1e-13, 0.5}.passed());
  CHECK_FALSE(NormAgreement{1e-15, 1e-15}.passed());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(NormAgreement{nan, 0.5}.passed());
  CHECK_FALSE(NormAgreement{1e-15, nan}.passed());
}
