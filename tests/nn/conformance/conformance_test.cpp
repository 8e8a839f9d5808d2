#include "nn/conformance/conformance.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/function_layer.hpp"

using namespace normlab;

TEST_CASE("conformance: every registered norm is what its entry says") {
  for (const NormEntry& entry : nn::norms()) {
    CAPTURE(entry.name);
    const std::vector<CheckResult> results = check_norm(entry);
    CHECK(results.size() > 40);
    CHECK(failures(results) == "");
  }
}

TEST_CASE("conformance: every part reports on a norm that has weight, bias and reference") {
  const std::vector<CheckResult> results = check_norm(nn::norms().at("layernorm"));
  for (const char* property : {"shape",
                               "empty batch",
                               "parameter names",
                               "parameter count",
                               "a gradient reaches weight",
                               "gradient of weight",
                               "gradient of bias",
                               "gradient of x",
                               "shift",
                               "positive scale",
                               "odd",
                               "token independence",
                               "batch independence",
                               "feature independence",
                               "permutation of features",
                               "finite",
                               "value",
                               "NaN stays where it may be",
                               "NaN is not hidden",
                               "second forward in train mode",
                               "second forward in evaluation mode",
                               "train against evaluation",
                               "reference: value",
                               "reference: gradient of x",
                               "reference: gradient of bias",
                               "reference: parameter names"}) {
    CAPTURE(property);
    CHECK(std::ranges::count(results, property, &CheckResult::property) > 0);
  }
}

TEST_CASE("conformance: a correct layer that ignores the eps passes") {
  CHECK(failures(check_norm(make_entry(apply_rms_norm, rms_norm_properties()))) == "");
}

TEST_CASE("conformance: a failure names property and input in one line") {
  const CheckResult result{"gradient of weight", "(2, 4, 7), eps 0.1", false, "relative error 0.5"};
  CHECK(result.line() == "FAILED gradient of weight | (2, 4, 7), eps 0.1 | relative error 0.5");
  CHECK(failures({result, result}) == result.line() + "\n" + result.line() + "\n");
  const CheckResult passed{"shape", "(2, 3, 1)", true, "output (2, 3, 1)"};
  CHECK(failures({passed}) == "");
  CHECK(passed.line().starts_with("ok"));
}

TEST_CASE("conformance: the invariances are measured with the size of their violation") {
  const std::vector<MeasuredInvariance> all = measure_invariances(nn::norms().at("rmsnorm"));
  REQUIRE(all.size() == 7);
  CHECK(all[0].name == "shift");
  CHECK(!all[0].declared);
  CHECK(all[0].violation > 0.1);
  CHECK(all[1].name == "positive scale");
  CHECK(all[1].declared);
  CHECK(all[1].violation <= 1e-14);
  // LayerNorm's eps of 1e-5 is visible for inputs of size 1.
  const double of_layernorm = measure_invariances(nn::norms().at("layernorm"))[1].violation;
  CHECK(of_layernorm > 1e-7);
  CHECK(of_layernorm < 1e-4);
}
