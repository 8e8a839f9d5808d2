// What the conformance suite has to find: layers that are wrong in one respect.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/conformance/conformance.hpp"
#include "tests/support/function_layer.hpp"

using namespace normlab;

namespace {

using Names = std::vector<std::string>;

// Properties of the failed findings, each once.
Names failed(const NormEntry& entry) {
  Names names;
  for (const Finding& finding : check_norm(entry)) {
    if (!finding.passed && std::ranges::count(names, finding.property) == 0) {
      names.push_back(finding.property);
    }
  }
  return names;
}

// The same in one line, which doctest can print.
std::string all_failed(const NormEntry& entry) {
  std::string line;
  for (const std::string& name : failed(entry)) line += (line.empty() ? "" : "; ") + name;
  return line;
}

}  // namespace

TEST_CASE("conformance: a wrong backward is rejected, of the input and of a parameter") {
  // The size of the gradient that comes back is off by a tenth.
  const auto wrong = [](const Var& y) {
    const Adjoint dy(y);
    return record("wrong", y.value(), {y},
                  [dy](const Tensor& g) { dy += map(g, [](double v) { return 1.1 * v; }); });
  };
  const auto of_input = [&wrong](FunctionLayer& layer, const Var& x) {
    return rms_norm_of(layer, wrong(x));
  };
  CHECK(all_failed(entry_of(of_input, of_rms_norm())) == "gradient of x");
  const auto of_weight = [&wrong](FunctionLayer& layer, const Var& x) {
    return rms_norm(x, {x.value().width()}, wrong(layer.watch(x, "weight")), 1e-5);
  };
  CHECK(all_failed(entry_of(of_weight, of_rms_norm())) == "gradient of weight");
}

TEST_CASE("conformance: a gradient where the function is constant is rejected") {
  // The sign of the only feature: differences cannot see that its gradient must be zero.
  const auto straight_through = [](FunctionLayer& layer, const Var& x) {
    if (x.value().width() > 1) return rms_norm_of(layer, x);
    const Adjoint dx(x);
    const Tensor sign = map(x.value(), [](double v) { return std::copysign(1.0, v); });
    return layer.watch(x, "weight") *
           record("wrong", sign, {x}, [dx](const Tensor& dy) { dx += dy; });
  };
  const Names names = failed(entry_of(straight_through, of_rms_norm()));
  CHECK(std::ranges::count(names, "gradient of x") == 1);
}

TEST_CASE("conformance: a declared invariance that does not hold is rejected") {
  const auto with = [](bool NormProperties::*property) {
    NormProperties properties = of_rms_norm();
    properties.*property = true;
    return properties;
  };
  CHECK(all_failed(entry_of(rms_norm_of, with(&NormProperties::shift_invariant))) ==
        "shift; value; gradient of x");
  const Names independent =
      failed(entry_of(rms_norm_of, with(&NormProperties::feature_independent)));
  CHECK(std::ranges::count(independent, "feature independence") == 1);
  CHECK(std::ranges::count(independent, "NaN stays where it may be") == 1);

  NormEntry dyt = nn::norms().at("dyt");  // saturates, and so seems scale-invariant at 1e4
  dyt.properties.scale_invariant = true;
  CHECK(all_failed(dyt) == "positive scale");
  NormEntry batchnorm = nn::norms().at("batchnorm");
  batchnorm.properties.batch_independent = true;
  const Names dependent = failed(batchnorm);
  CHECK(std::ranges::count(dependent, "batch independence") == 1);
  NormEntry groupnorm = nn::norms().at("groupnorm");
  groupnorm.properties.permutation_equivariant = true;
  CHECK(all_failed(groupnorm) == "permutation of features");
}

TEST_CASE("conformance: an invariance that holds and is not declared is rejected") {
  struct Case {
    bool NormProperties::*property;
    const char* name;
  };
  for (const Case& undeclared :
       {Case{&NormProperties::shift_invariant, "shift"},
        Case{&NormProperties::scale_invariant, "positive scale"}, Case{&NormProperties::odd, "odd"},
        Case{&NormProperties::token_independent, "token independence"},
        Case{&NormProperties::batch_independent, "batch independence"},
        Case{&NormProperties::permutation_equivariant, "permutation of features"}}) {
    NormEntry layernorm = nn::norms().at("layernorm");
    layernorm.properties.*undeclared.property = false;
    CHECK(all_failed(layernorm) == undeclared.name);
  }
  NormEntry dyt = nn::norms().at("dyt");
  dyt.properties.feature_independent = false;
  CHECK(all_failed(dyt) == "feature independence");
}

TEST_CASE("conformance: a NaN that leaks into other tokens, or is hidden, is rejected") {
  const auto leaks = [](FunctionLayer& layer, const Var& x) {
    return rms_norm_of(layer, x) + 0.0 * sum(x);
  };
  const Names names = failed(entry_of(leaks, of_rms_norm()));
  CHECK(std::ranges::count(names, "NaN stays where it may be") == 1);
  const auto hides = [](FunctionLayer& layer, const Var& x) {
    const Adjoint dx(x);
    const Tensor clean = map(x.value(), [](double v) { return std::isnan(v) ? 0.0 : v; });
    return rms_norm_of(layer, record("wrong", clean, {x}, [dx](const Tensor& dy) { dx += dy; }));
  };
  CHECK(all_failed(entry_of(hides, of_rms_norm())) == "NaN is not hidden");
}

TEST_CASE("conformance: a parameter without a gradient is rejected") {
  const NormEntry idle = entry_of(rms_norm_of, of_rms_norm(), {"weight", "forgotten"});
  const Names names = failed(idle);
  CHECK(std::ranges::count(names, "a gradient reaches forgotten") == 1);
  CHECK(std::ranges::count(names, "a gradient reaches weight") == 0);
}

TEST_CASE("conformance: squares that overflow and variances that cancel are rejected") {
  const auto overflows = [](FunctionLayer& layer, const Var& x) {
    return x / sqrt(mean(square(x), {-1}, true) + 1e-5) * layer.watch(x, "weight");
  };
  const Names names = failed(entry_of(overflows, of_rms_norm()));
  CHECK(std::ranges::count(names, "value") == 1);
  const auto cancels = [](FunctionLayer& layer, const Var& x) {
    const Var m = mean(x, {-1}, true);
    const Var variance = abs(mean(square(x), {-1}, true) - square(m));
    return (x - m) / sqrt(variance + 1e-5) * layer.watch(x, "weight");
  };
  std::string at_offset;
  for (const Finding& finding :
       check_norm(entry_of(cancels, nn::norms().at("layernorm").properties))) {
    if (!finding.passed && finding.input == "tokens plus 1e8") at_offset += finding.property + ";";
  }
  CHECK(at_offset.find("value;") != std::string::npos);
}

TEST_CASE("conformance: a division by zero is rejected, with the row that shows it") {
  const auto divides = [](FunctionLayer& layer, const Var& x) {
    return x / sqrt(mean(square(x), {-1}, true)) * layer.watch(x, "weight");
  };
  const std::string lines = failures(check_norm(entry_of(divides, of_rms_norm())));
  CHECK(lines.find("FAILED finite | all zero | not finite: output") != std::string::npos);
  CHECK(lines.find("FAILED finite | one token zero") != std::string::npos);
  CHECK(lines.find("FAILED finite | all 5") == std::string::npos);
}

TEST_CASE("conformance: a layer that remembers, or has an undeclared mode, is rejected") {
  const auto remembers = [](FunctionLayer& layer, const Var& x) {
    return rms_norm_of(layer, x) * (1.0 + 1e-3 * layer.calls++);
  };
  const Names names = failed(entry_of(remembers, of_rms_norm()));
  CHECK(std::ranges::count(names, "second forward in train mode") == 1);
  CHECK(std::ranges::count(names, "second forward in evaluation mode") == 1);

  const auto modes = [](FunctionLayer& layer, const Var& x) {
    return layer.training() ? rms_norm_of(layer, x) : 2.0 * rms_norm_of(layer, x);
  };
  CHECK(all_failed(entry_of(modes, of_rms_norm())) == "train against evaluation");
  NormProperties statistics = of_rms_norm();
  statistics.running_statistics = true;
  CHECK(all_failed(entry_of(modes, statistics)) == "running statistics");
  CHECK(all_failed(entry_of(rms_norm_of, statistics)) ==
        "train against evaluation; running statistics");
  NormEntry batchnorm = nn::norms().at("batchnorm");
  batchnorm.properties.running_statistics = false;
  CHECK(all_failed(batchnorm) == "train against evaluation");
}

TEST_CASE("conformance: fused and composed layers that differ are rejected") {
  NormEntry other = nn::norms().at("rmsnorm");
  other.composed = nn::norms().at("layernorm").composed;
  const Names names = failed(other);
  for (const char* property :
       {"composed: value", "composed: gradient of x", "composed: parameter names"}) {
    CAPTURE(property);
    CHECK(std::ranges::count(names, property) == 1);
  }
  CHECK(std::ranges::count(names, "gradient of x") == 0);
}

TEST_CASE("conformance: wrong shapes, names and makers are rejected, what throws is reported") {
  const auto flattens = [](FunctionLayer& layer, const Var& x) {
    return reshape(rms_norm_of(layer, x), {-1, x.value().width()});
  };
  const Names names = failed(entry_of(flattens, of_rms_norm()));
  CHECK(std::ranges::count(names, "shape") == 1);
  CHECK(std::ranges::count(names, "empty batch") == 1);

  CHECK(failed(entry_of(rms_norm_of, of_rms_norm(), {"weight", "weight"})).front() ==
        "parameter names");

  NormEntry nothing = entry_of(rms_norm_of, of_rms_norm());
  nothing.make = [](std::int64_t, std::optional<double>) { return nullptr; };
  const std::string lines = failures(check_norm(nothing));
  CHECK(lines.find("FAILED shape | (2, 3, 1) | threw: [check_norm] make: must return a layer") ==
        0);

  const auto refuses_empty = [](FunctionLayer& layer, const Var& x) {
    return rms_norm_of(layer, x + 0.0 * mean(x, {}, false));
  };
  const std::string empty = failures(check_norm(entry_of(refuses_empty, of_rms_norm())));
  CHECK(empty.find("FAILED empty batch | (0, 5, 8) | threw: [mean] x: must have elements") !=
        std::string::npos);
}
