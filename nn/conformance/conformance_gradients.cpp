// Backward rules against central differences, and against the reference implementation.
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

struct ShapeAndEps {
  Shape shape;
  std::optional<double> eps;

  std::string str() const {
    return shape.str() + (eps ? fmt::format(", eps {}", *eps) : ", default eps");
  }
};

// At width 1 eps is large. With a small eps a scale-invariant norm of one feature is its sign,
// whose gradient differences cannot resolve.
std::vector<ShapeAndEps> shapes_and_eps(const NormEntry& entry) {
  std::vector<ShapeAndEps> all{{{2, 3, 1}, 0.1},          {{1, 5, 3}, std::nullopt},
                               {{2, 4, 7}, std::nullopt}, {{2, 4, 7}, 0.1},
                               {{3, 3, 8}, std::nullopt}, {{1, 3, 65}, std::nullopt}};
  // A norm that shares statistics between tokens may refuse a single token.
  if (entry.properties.token_independent) all.push_back({{1, 1, 5}, std::nullopt});
  return all;
}

// True if the output changes by less than a thousandth when this parameter changes by a tenth.
bool is_nearly_constant(Layer& layer, Parameter& input, Parameter& moved) {
  const Tensor before = evaluate(layer, input.value), start = moved.value;
  moved.value = zip(start, Generator(11).randn(start.shape()),
                    [](double v, double z) { return v + 0.1 * z * std::max(std::abs(v), 0.1); });
  const Tensor after = evaluate(layer, input.value);
  moved.value = start;
  return distance(before, after) < 1e-3;
}

// Where a layer is constant, such as LayerNorm over one feature, differences have nothing to
// measure. There the gradient must be negligible against one of usual size.
void check_zero_gradient(Layer& layer, Parameter& input, Parameter& parameter,
                         const std::string& property, const std::string& where, Report& report) {
  parameter.zero_grad();
  Tape tape;
  const Var y = layer.forward(tape.watch(input));
  const Tensor cotangent = Generator(7).randn(y.shape());
  if (y.needs_grad()) tape.backward(y, cotangent);
  const double usual_size = norm(cotangent) / std::max(norm(parameter.value), 1e-3);
  const double size = parameter.grad.defined() ? norm(parameter.grad) : 0.0;
  report.add(property, where, size <= 1e-3 * usual_size,
             fmt::format("the function is constant here; gradient of size {:.2e}, at most {:.0e}",
                         size, 1e-3 * usual_size));
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

void check_gradients(const NormEntry& entry, Report& report) {
  for (const ShapeAndEps& input : shapes_and_eps(entry)) {
    report.guarded("gradients", input.str(), [&] {
      const auto layer = with_random_parameters(entry.make, input.shape.width(), input.eps);
      Parameter x{"x", well_scaled_input(input.shape)};
      auto named = layer->named_parameters();
      named.emplace_back("x", &x);
      for (const auto& [name, parameter] : named) {
        if (!parameter->requires_grad) continue;
        check_gradient(*layer, x, *parameter, "gradient of " + name, input.str(), report);
      }
    });
  }
}

void check_reference(const NormEntry& entry, Report& report) {
  if (!entry.reference) return;
  constexpr double kSame = 1e-11;
  for (const ShapeAndEps& input : shapes_and_eps(entry)) {
    report.guarded("reference", input.str(), [&] {
      const auto fused = with_random_parameters(entry.make, input.shape.width(), input.eps);
      const auto reference =
          with_random_parameters(entry.reference, input.shape.width(), input.eps);
      const Tensor x = well_scaled_input(input.shape);
      const Pass a = run_pass(*fused, x), b = run_pass(*reference, x);
      const std::string where = input.str();
      report.add_at_most("reference: value", where, distance(a.value, b.value), kSame);
      report.add_at_most("reference: gradient of x", where,
                         distance(a.input_gradient, b.input_gradient), kSame);
      bool same_names = a.parameter_gradients.size() == b.parameter_gradients.size();
      for (std::size_t i = 0; same_names && i < a.parameter_gradients.size(); ++i) {
        const auto& [name, gradient] = a.parameter_gradients[i];
        same_names = name == b.parameter_gradients[i].first;
        if (!same_names) break;
        report.add_at_most("reference: gradient of " + name, where,
                           distance(gradient, b.parameter_gradients[i].second), kSame);
      }
      report.add("reference: parameter names", where, same_names,
                 fmt::format("{} and {} parameters, {}", a.parameter_gradients.size(),
                             b.parameter_gradients.size(),
                             same_names ? "the same names" : "not the same names"));
    });
  }
}

}  // namespace normlab::conformance
