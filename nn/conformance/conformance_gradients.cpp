// Backward rules against central differences, and against the same function in primitive ops.
// Tested by tests/nn/conformance/conformance_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/kernels/map.hpp"
#include "core/random.hpp"
#include "core/tools/gradcheck.hpp"
#include "nn/conformance/conformance_checks.hpp"

namespace normlab::conformance {

namespace {

struct Setting {
  Shape shape;
  std::optional<double> eps;

  std::string str() const {
    return shape.str() + (eps ? fmt::format(", eps {}", *eps) : ", default eps");
  }
};

// At width 1 eps is large: with a small one a scale-invariant norm is a sign there, whose gradient
// differences cannot resolve.
std::vector<Setting> settings(const NormEntry& entry) {
  std::vector<Setting> all{{{2, 3, 1}, 0.1}, {{1, 5, 3}, std::nullopt}, {{2, 4, 7}, std::nullopt},
                           {{2, 4, 7}, 0.1}, {{3, 3, 8}, std::nullopt}, {{1, 3, 65}, std::nullopt}};
  // One that shares statistics between tokens may refuse a single one.
  if (entry.properties.token_independent) all.push_back({{1, 1, 5}, std::nullopt});
  return all;
}

// Does the output, to a thousandth, stay when this parameter moves by a tenth?
bool is_nearly_constant(Layer& layer, Parameter& input, Parameter& moved) {
  const Tensor before = value_of(layer, input.value), kept = moved.value;
  moved.value = zip(kept, Generator(11).randn(kept.shape()),
                    [](double v, double z) { return v + 0.1 * z * std::max(std::abs(v), 0.1); });
  const Tensor after = value_of(layer, input.value);
  moved.value = kept;
  return distance(before, after) < 1e-3;
}

// Where a layer is constant, as LayerNorm over one feature, there is nothing for differences to
// measure: the gradient must be zero beside one of ordinary size.
void check_zero_gradient(Layer& layer, Parameter& input, Parameter& parameter,
                         const std::string& property, const std::string& where, Report& report) {
  parameter.zero_grad();
  Tape tape;
  const Var y = layer.forward(tape.watch(input));
  const Tensor cotangent = Generator(7).randn(y.shape());
  if (y.needs_grad()) tape.backward(y, cotangent);
  const double ordinary_size = norm(cotangent) / std::max(norm(parameter.value), 1e-3);
  const double size = parameter.grad.defined() ? norm(parameter.grad) : 0.0;
  report.add(property, where, size <= 1e-3 * ordinary_size,
             fmt::format("the function is constant here; gradient of size {:.2e}, at most {:.0e}",
                         size, 1e-3 * ordinary_size));
}

void check_gradient(Layer& layer, Parameter& input, Parameter& parameter,
                    const std::string& property, const std::string& where, Report& report) {
  if (input.value.width() == 1 && is_nearly_constant(layer, input, parameter)) {
    check_zero_gradient(layer, input, parameter, property, where, report);
    return;
  }
  const GradcheckOptions options;
  const GradcheckResult result = check_parameter_gradients(
      [&](Tape& tape) { return layer.forward(tape.watch(input)); }, {&parameter}, options);
  report.add(property, where, result.passed,
             result.passed ? fmt::format("relative error {:.2e}, at most {:.0e}",
                                         result.worst_relative_error, options.tolerance)
                           : result.report.substr(0, result.report.find('\n')));
}

}  // namespace

void check_gradients_of(const NormEntry& entry, Report& report) {
  for (const Setting& setting : settings(entry)) {
    report.guarded("gradients", setting.str(), [&] {
      const auto layer = with_random_parameters(entry.make, setting.shape.width(), setting.eps);
      Parameter input{"x", ordinary(setting.shape)};
      auto named = layer->named_parameters();
      named.emplace_back("x", &input);
      for (const auto& [name, parameter] : named) {
        if (!parameter->requires_grad) continue;
        check_gradient(*layer, input, *parameter, "gradient of " + name, setting.str(), report);
      }
    });
  }
}

void check_composed(const NormEntry& entry, Report& report) {
  if (!entry.composed) return;
  constexpr double kSame = 1e-11;
  for (const Setting& setting : settings(entry)) {
    report.guarded("composed", setting.str(), [&] {
      const auto fused = with_random_parameters(entry.make, setting.shape.width(), setting.eps);
      const auto composed =
          with_random_parameters(entry.composed, setting.shape.width(), setting.eps);
      const Tensor x = ordinary(setting.shape);
      const Pass a = pass_of(*fused, x), b = pass_of(*composed, x);
      const std::string where = setting.str();
      report.add_at_most("composed: value", where, distance(a.value, b.value), kSame);
      report.add_at_most("composed: gradient of x", where,
                         distance(a.input_gradient, b.input_gradient), kSame);
      bool same_names = a.parameter_gradients.size() == b.parameter_gradients.size();
      for (std::size_t i = 0; same_names && i < a.parameter_gradients.size(); ++i) {
        const auto& [name, gradient] = a.parameter_gradients[i];
        same_names = name == b.parameter_gradients[i].first;
        if (!same_names) break;
        report.add_at_most("composed: gradient of " + name, where,
                           distance(gradient, b.parameter_gradients[i].second), kSame);
      }
      report.add("composed: parameter names", where, same_names,
                 fmt::format("{} and {} parameters, {}", a.parameter_gradients.size(),
                             b.parameter_gradients.size(),
                             same_names ? "the same names" : "not the same names"));
    });
  }
}

}  // namespace normlab::conformance
