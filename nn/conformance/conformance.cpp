// Tested by tests/nn/conformance/conformance_test.cpp, and by conformance_rejects_test.cpp with
// wrong norms.
#include "nn/conformance/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "core/random.hpp"
#include "nn/conformance/conformance_checks.hpp"

namespace normlab {

namespace conformance {

void Report::add_at_most(const std::string& property, const std::string& input, double value,
                         double bound) {
  add(property, input, value <= bound,
      fmt::format("relative error {:.2e}, at most {:.0e}", value, bound));
}

void Report::guarded(const std::string& property, const std::string& input,
                     const std::function<void()>& part) {
  try {
    part();
  } catch (const std::exception& error) {
    add(property, input, false, fmt::format("threw: {}", error.what()));
  }
}

std::unique_ptr<Layer> make_layer(const MakeNorm& make, std::int64_t width,
                                  std::optional<double> eps) {
  std::unique_ptr<Layer> layer = make(width, eps);
  check(layer != nullptr, "check_norm", "make", "must return a layer", "a null pointer");
  return layer;
}

std::unique_ptr<Layer> with_random_parameters(const MakeNorm& make, std::int64_t width,
                                              std::optional<double> eps) {
  std::unique_ptr<Layer> layer = make_layer(make, width, eps);
  Generator generator(3);
  for (Parameter* parameter : layer->parameters()) {
    parameter->value = zip(parameter->value, generator.randn(parameter->value.shape()),
                           [](double start, double z) { return start + 0.3 * z; });
  }
  return layer;
}

Tensor well_scaled_input(const Shape& shape, std::uint64_t seed, double size) {
  return map(Generator(seed).randn(shape),
             [size](double z) { return size * (z + std::copysign(0.3, z)); });
}

Tensor evaluate(Layer& layer, const Tensor& x) {
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  return layer.forward(tape.constant(x)).value();
}

Pass run_pass(Layer& layer, const Tensor& x) {
  layer.zero_grad();
  Tape tape;
  const Var input = tape.variable(x);
  const Var y = layer.forward(input);
  if (y.needs_grad()) tape.backward(y, Generator(7).randn(y.shape()));
  Pass pass{y.value(), input.grad(), {}};
  for (const auto& [name, parameter] : layer.named_parameters()) {
    pass.parameter_gradients.emplace_back(name, parameter->grad);
  }
  return pass;
}

double distance(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!a.defined() || !b.defined() || a.shape() != b.shape()) return kInfinity;
  const double difference = norm(zip(a, b, std::minus<>{}));
  if (difference == 0.0) return 0.0;
  const double relative = difference / std::max(norm(a), norm(b));
  return std::isnan(relative) ? kInfinity : relative;
}

}  // namespace conformance

std::string CheckResult::line() const {
  return fmt::format("{} {} | {} | {}", passed ? "ok    " : "FAILED", property, input, measured);
}

std::vector<CheckResult> check_norm(const NormEntry& entry) {
  conformance::Report report;
  conformance::check_module(entry, report);
  conformance::check_gradients(entry, report);
  conformance::check_invariances(entry, report);
  conformance::check_edge_cases(entry, report);
  conformance::check_nan(entry, report);
  conformance::check_modes(entry, report);
  conformance::check_reference(entry, report);
  return report.results();
}

std::string failures(const std::vector<CheckResult>& results) {
  std::string text;
  for (const CheckResult& result : results) {
    if (!result.passed) text += result.line() + "\n";
  }
  return text;
}

}  // namespace normlab
