// Layers with one fault each, which the conformance suite has to find.
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

// The properties of the failed results, without repetition.
Names failed(const NormEntry& entry) {
  Names names;
  for (const CheckResult& result : check_norm(entry)) {
    if (!result.passed && std::ranges::count(names, result.property) == 0) {
      names.push_back(result.property);
    }
  }
  return names;
}

// The same in one line, for doctest's messages.
std::string all_failed(const NormEntry& entry) {
  std::string line;
  for (const std::string& name : failed(entry)) line += (line.empty() ? "" : "; ") + name;
  return line;
}

}  // namespace

TEST_CASE("conformance: a wrong backward is rejected, of the input and of a parameter") {
  // The gradient is a tenth too large.
  const auto wrong = [](const Var& y) {
    const Adjoint dy(y);
    return record("wrong", y.value(), {y},
                  [dy](const Tensor& g) { dy += map(g, [](double v) { return 1.1 * v; }); });
  };
  const auto of_input = [&wrong](FunctionLayer& layer, const Var& x) {
    return apply_rms_norm(layer, wrong(x));
  };
  CHECK(all_failed(make_entry(of_input, rms_norm_properties())) == "gradient of x");
  const auto of_weight = [&wrong](FunctionLayer& layer, const Var& x) {
    return rms_norm(x, {x.value().width()}, wrong(layer.watch(x, "weight")), 1e-5);
  };
  CHECK(all_failed(make_entry(of_weight, rms_norm_properties())) == "gradient of weight");
}

TEST_CASE("conformance: a gradient where the function is constant is rejected") {
  // With one feature the output is its sign, and differences cannot see that the gradient must be
  // 0.
  const auto straight_through = [](FunctionLayer& layer, const Var& x) {
    if (x.value().width() > 1) return apply_rms_norm(layer, x);
    const Adjoint dx(x);
    const Tensor sign = map(x.value(), [](double v) { return std::copysign(1.0, v); });
    return layer.watch(x, "weight") *
           record("wrong", sign, {x}, [dx](const Tensor& dy) { dx += dy; });
  };
  const Names names = failed(make_entry(straight_through, rms_norm_properties()));
  CHECK(std::ranges::count(names, "gradient of x") == 1);
}

TEST_CASE("conformance: a declared invariance that does not hold is rejected") {
  const auto with = [](bool NormProperties::*property) {
    NormProperties properties = rms_norm_properties();
    properties.*property = true;
    return properties;
  };
  CHECK(all_failed(make_entry(apply_rms_norm, with(&NormProperties::shift_invariant))) ==
        "shift; value; gradient of x");
  const Names independent =
      failed(make_entry(apply_rms_norm, with(&NormProperties::feature_independent)));
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
    return apply_rms_norm(layer, x) + 0.0 * sum(x);
  };
  const Names names = failed(make_entry(leaks, rms_norm_properties()));
  CHECK(std::ranges::count(names, "NaN stays where it may be") == 1);
  const auto hides = [](FunctionLayer& layer, const Var& x) {
    const Adjoint dx(x);
    const Tensor clean = map(x.value(), [](double v) { return std::isnan(v) ? 0.0 : v; });
    return apply_rms_norm(layer, record("wrong", clean, {x}, [dx](const Tensor& dy) { dx += dy; }));
  };
  CHECK(all_failed(make_entry(hides, rms_norm_properties())) == "NaN is not hidden");
}

TEST_CASE("conformance: a parameter without a gradient is rejected") {
  const NormEntry idle = make_entry(apply_rms_norm, rms_norm_properties(), {"weight", "forgotten"});
  const Names names = failed(idle);
  CHECK(std::ranges::count(names, "a gradient reaches forgotten") == 1);
  CHECK(std::ranges::count(names, "a gradient reaches weight") == 0);
}

TEST_CASE("conformance: squares that overflow and variances that cancel are rejected") {
  const auto overflows = [](FunctionLayer& layer, const Var& x) {
    return x / sqrt(mean(square(x), {-1}, true) + 1e-5) * layer.watch(x, "weight");
  };
  const Names names = failed(make_entry(overflows, rms_norm_properties()));
  CHECK(std::ranges::count(names, "value") == 1);
  const auto cancels = [](FunctionLayer& layer, const Var& x) {
    const Var m = mean(x, {-1}, true);
    const Var variance = abs(mean(square(x), {-1}, true) - square(m));
    return (x - m) / sqrt(variance + 1e-5) * layer.watch(x, "weight");
  };
  std::string at_offset;
  for (const CheckResult& result :
       check_norm(make_entry(cancels, nn::norms().at("layernorm").properties))) {
    if (!result.passed && result.input == "tokens plus 1e8") at_offset += result.property + ";";
  }
  CHECK(at_offset.find("value;") != std::string::npos);
}

TEST_CASE("conformance: a division by zero is rejected, with the row that shows it") {
  const auto divides = [](FunctionLayer& layer, const Var& x) {
    return x / sqrt(mean(square(x), {-1}, true)) * layer.watch(x, "weight");
  };
  const std::string lines = failures(check_norm(make_entry(divides, rms_norm_properties())));
  CHECK(lines.find("FAILED finite | all zero | not finite: output") != std::string::npos);
  CHECK(lines.find("FAILED finite | one token zero") != std::string::npos);
  CHECK(lines.find("FAILED finite | all 5") == std::string::npos);
}

TEST_CASE("conformance: a layer that remembers, or has an undeclared mode, is rejected") {
  const auto remembers = [](FunctionLayer& layer, const Var& x) {
    return apply_rms_norm(layer, x) * (1.0 + 1e-3 * layer.calls++);
  };
  const Names names = failed(make_entry(remembers, rms_norm_properties()));
  CHECK(std::ranges::count(names, "second forward in train mode") == 1);
  CHECK(std::ranges::count(names, "second forward in evaluation mode") == 1);

  const auto modes = [](FunctionLayer& layer, const Var& x) {
    return layer.training() ? apply_rms_norm(layer, x) : 2.0 * apply_rms_norm(layer, x);
  };
  CHECK(all_failed(make_entry(modes, rms_norm_properties())) == "train against evaluation");
  NormProperties statistics = rms_norm_properties();
  statistics.running_statistics = true;
  CHECK(all_failed(make_entry(modes, statistics)) == "running statistics");
  CHECK(all_failed(make_entry(apply_rms_norm, statistics)) ==
        "train against evaluation; running statistics");
  NormEntry batchnorm = nn::norms().at("batchnorm");
  batchnorm.properties.running_statistics = false;
  CHECK(all_failed(batchnorm) == "train against evaluation");
}

TEST_CASE("conformance: a layer that differs from its reference implementation is rejected") {
  NormEntry other = nn::norms().at("rmsnorm");
  other.reference = nn::norms().at("layernorm").reference;
  const Names names = failed(other);
  for (const char* property :
       {"reference: value", "reference: gradient of x", "reference: parameter names"}) {
    CAPTURE(property);
    CHECK(std::ranges::count(names, property) == 1);
  }
  CHECK(std::ranges::count(names, "gradient of x") == 0);
}

TEST_CASE("conformance: wrong shapes, names and factories are rejected, and exceptions reported") {
  const auto flattens = [](FunctionLayer& layer, const Var& x) {
    return reshape(apply_rms_norm(layer, x), {-1, x.value().width()});
  };
  const Names names = failed(make_entry(flattens, rms_norm_properties()));
  CHECK(std::ranges::count(names, "shape") == 1);
  CHECK(std::ranges::count(names, "empty batch") == 1);

  CHECK(failed(make_entry(apply_rms_norm, rms_norm_properties(), {"weight", "weight"})).front() ==
        "parameter names");

  NormEntry nothing = make_entry(apply_rms_norm, rms_norm_properties());
  nothing.make = [](std::int64_t, std::optional<double>) { return nullptr; };
  const std::string lines = failures(check_norm(nothing));
  CHECK(lines.find("FAILED shape | (2, 3, 1) | threw: [check_norm] make: must return a layer") ==
        0);

  const auto refuses_empty = [](FunctionLayer& layer, const Var& x) {
    return apply_rms_norm(layer, x + 0.0 * mean(x, {}, false));
  };
  const std::string empty = failures(check_norm(make_entry(refuses_empty, rms_norm_properties())));
  CHECK(empty.find("FAILED empty batch | (0, 5, 8) | threw: [mean] x: must have elements") !=
        std::string::npos);
}
