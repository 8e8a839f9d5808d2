#include "nn/norms/norm_registry.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("norms: every layer of the article is registered, with a description of one line") {
  const std::vector<std::string> names = nn::norms().names();
  for (const char* name : {"layernorm", "rmsnorm", "scalenorm", "convnext", "adaln", "batchnorm",
                           "instancenorm", "groupnorm", "dyt"}) {
    CAPTURE(name);
    CHECK(std::ranges::count(names, name) == 1);
  }
  for (const NormEntry& entry : nn::norms()) {
    CAPTURE(entry.name);
    for (const std::string& text : {entry.description, entry.equation, entry.statistics}) {
      CHECK(!text.empty());
      CHECK(text.find('\n') == std::string::npos);
    }
    CHECK(entry.equation.starts_with("y = "));
  }
}

TEST_CASE("norms: the eps of the factory reaches every layer that has one") {
  const Tensor x = random({2, 3, 8});
  for (const NormEntry& entry : nn::norms()) {
    CAPTURE(entry.name);
    const Tensor at_default = evaluate(*entry.factory()(8), x);
    const Tensor at_one = evaluate(*entry.factory(1.0)(8), x);
    CHECK((max_abs_difference(at_default, at_one) > 0.01) == (entry.name != "dyt"));
    if (!entry.reference) continue;
    CHECK(relative_error(evaluate(*entry.reference(8, 1.0), x), at_one) <= 1e-14);
  }
}

TEST_CASE("norms: the documented formulas of the statistics over tokens, on two tokens by hand") {
  // Tokens (1, 10) and (3, 30): feature means 2 and 20, variances 1 and 100; all: mean 11.
  const Tensor x({1, 2, 2}, {1, 10, 3, 30}), by_feature({1, 2, 2}, {-1, -1, 1, 1});
  for (const char* name : {"batchnorm", "instancenorm", "groupnorm"}) {
    CAPTURE(name);
    CHECK(relative_error(evaluate(*nn::norms().at(name).make(2, 0.0), x), by_feature) <= 1e-15);
  }
  for (const char* name : {"layernorm", "convnext"}) {
    CAPTURE(name);
    CHECK(relative_error(evaluate(*nn::norms().at(name).make(2, 0.0), x),
                         Tensor({1, 2, 2}, {-1, 1, -1, 1})) <= 1e-15);
  }
}

TEST_CASE("norms: an unknown norm is refused with the known ones") {
  check_refused([] { nn::norms().at("layer_norm"); },
                "[Registry] norm: must be one of layernorm, rmsnorm, scalenorm");
}
