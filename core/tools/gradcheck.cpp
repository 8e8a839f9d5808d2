// Tested by tests/core/tools/gradcheck_test.cpp, which feeds it wrong rules.
#include "core/tools/gradcheck.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "core/random.hpp"

namespace normlab {

namespace {

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

// L = <f, r>, evaluated without recording.
class Objective {
 public:
  Objective(const std::function<Var(Tape&)>& f, std::uint64_t seed) : f_(f) {
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    Generator generator(seed);
    cotangent_ = generator.randn(f_(tape).shape());
  }

  double value() const {
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    return dot(f_(tape).value(), cotangent_);
  }

  // Adds the analytic gradients to the parameters that f watches.
  void backward() const {
    Tape tape;
    const Var y = f_(tape);
    tape.backward(y, cotangent_);
  }

 private:
  const std::function<Var(Tape&)>& f_;
  Tensor cotangent_;
};

// Does the slope jump at or near element `index`? The slopes to the left and to the right of a
// smooth function differ in proportion to the step; at a kink they differ whatever the step, and
// near one only as long as the step reaches it. Returns what to say about it, or nothing.
std::string describe_kink(const Objective& objective, Parameter& parameter, std::int64_t index,
                          double step) {
  const double at = parameter.value.data()[index];
  const auto value_at = [&](double moved) {
    parameter.value.mutable_data()[index] = moved;
    const double value = objective.value();
    parameter.value.mutable_data()[index] = at;
    return value;
  };
  const double here = value_at(at);
  struct Slopes {
    double left, right;
    double jump() const { return std::abs(right - left); }
  };
  const auto slopes = [&](double h) {
    const double above = at + h, below = at - h;
    return Slopes{(here - value_at(below)) / (at - below), (value_at(above) - here) / (above - at)};
  };
  const double h = step * std::max(1.0, std::abs(at));
  const Slopes near = slopes(h), nearer = slopes(h / 8.0);
  constexpr double kJump = 1e-4;  // above rounding
  const double size = std::max(std::abs(near.left), std::abs(near.right));
  const bool smooth = nearer.jump() > near.jump() / 16.0 && nearer.jump() < near.jump() / 4.0;
  if (!(near.jump() > kJump * size) || smooth) return "";
  return fmt::format(
      " (a kink: the slope is {:.4g} on its left and {:.4g} on its right; move this element away "
      "from it by more than {:.1e})",
      near.left, near.right, h);
}

Tensor numerical_gradient(const Objective& objective, Parameter& parameter, double step) {
  Tensor gradient = Tensor::uninitialized(parameter.value.shape());
  double* out = gradient.mutable_data();
  for (std::int64_t i = 0; i < gradient.numel(); ++i) {
    const double at = parameter.value.data()[i];
    const double above = at + step * std::max(1.0, std::abs(at)), below = at - (above - at);
    parameter.value.mutable_data()[i] = above;
    const double value_above = objective.value();
    parameter.value.mutable_data()[i] = below;
    const double value_below = objective.value();
    parameter.value.mutable_data()[i] = at;
    out[i] = (value_above - value_below) / (above - below);
  }
  return gradient;
}

struct Comparison {
  std::string name;
  Tensor analytic, numerical;
  bool expect_zero;
  std::function<std::string(std::int64_t)> kink_at;  // what describe_kink says of an element

  // NaN if either norm is NaN, which std::max would hide.
  double size() const {
    const double a = norm(analytic), n = norm(numerical);
    return a > n ? a : (n >= a ? n : std::numeric_limits<double>::quiet_NaN());
  }
  double difference() const { return norm(zip(analytic, numerical, std::minus<>{})); }

  std::string describe(double relative_error, bool passed) const {
    std::int64_t worst = 0;
    const auto distance = [&](std::int64_t i) {
      return std::abs(analytic.data()[i] - numerical.data()[i]);
    };
    for (std::int64_t i = 1; i < analytic.numel() && !std::isnan(distance(worst)); ++i) {
      if (!(distance(i) <= distance(worst))) worst = i;
    }
    return fmt::format(
        "{} {}: relative error {:.2e}, worst element {}: analytic {:.10g}, numerical {:.10g}{}",
        name, analytic.shape().str(), relative_error, worst, analytic.data()[worst],
        numerical.data()[worst], passed ? "" : kink_at(worst));
  }
};

GradcheckResult judge(const std::vector<Comparison>& comparisons, double tolerance) {
  double largest = 0.0;
  for (const Comparison& c : comparisons) {
    if (!c.expect_zero) largest = std::max(largest, c.size());
  }
  GradcheckResult result;
  for (const Comparison& c : comparisons) {
    if (c.analytic.numel() == 0) continue;
    const double size = c.expect_zero ? largest : c.size();
    double error = (c.expect_zero ? c.size() : c.difference()) / size;
    if (c.expect_zero && c.size() == 0.0) error = 0.0;  // exactly zero needs no measure
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    const bool passed = error <= tolerance;
    result.passed = result.passed && passed;
    result.worst_relative_error = std::max(result.worst_relative_error, error);
    result.report +=
        fmt::format("{} {}{}\n", passed ? "ok    " : "FAILED", c.describe(error, passed),
                    c.expect_zero || size != 0.0 ? "" : " (a gradient of zero was not expected)");
  }
  return result;
}

// Turns a function of inputs into one that watches parameters holding them.
std::function<Var(Tape&)> watching(const Function& f, std::deque<Parameter>& parameters) {
  return [&f, &parameters](Tape& tape) {
    std::vector<Var> inputs;
    for (Parameter& parameter : parameters) inputs.push_back(tape.watch(parameter));
    return f(inputs);
  };
}

std::deque<Parameter> as_parameters(const std::vector<Tensor>& inputs) {
  std::deque<Parameter> parameters;
  for (const Tensor& input : inputs) {
    parameters.push_back({fmt::format("input {}", parameters.size()), input});
  }
  return parameters;
}

std::vector<Parameter*> pointers(std::deque<Parameter>& parameters) {
  std::vector<Parameter*> result;
  for (Parameter& parameter : parameters) result.push_back(&parameter);
  return result;
}

}  // namespace

GradcheckResult check_parameter_gradients(const std::function<Var(Tape&)>& f,
                                          const std::vector<Parameter*>& parameters,
                                          const GradcheckOptions& options) {
  check(!parameters.empty(), "check_gradients", "inputs", "must be at least one", "none");
  for (std::size_t index : options.expect_zero) {
    check(index < parameters.size(), "check_gradients", "expect_zero",
          "must hold indices of inputs", [&] { return std::to_string(index); });
  }
  const Objective objective(f, options.seed);
  for (Parameter* parameter : parameters) parameter->zero_grad();
  objective.backward();
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter& parameter = *parameters[i];
    const bool zero = std::find(options.expect_zero.begin(), options.expect_zero.end(), i) !=
                      options.expect_zero.end();
    comparisons.push_back(
        {parameter.name,
         parameter.grad.defined() ? parameter.grad : Tensor::zeros(parameter.value.shape()),
         numerical_gradient(objective, parameter, options.step), zero,
         [&objective, &parameter, step = options.step](std::int64_t element) {
           return describe_kink(objective, parameter, element, step);
         }});
  }
  return judge(comparisons, options.tolerance);
}

GradcheckResult check_gradients(const Function& f, const std::vector<Tensor>& inputs,
                                const GradcheckOptions& options) {
  std::deque<Parameter> parameters = as_parameters(inputs);
  return check_parameter_gradients(watching(f, parameters), pointers(parameters), options);
}

double taylor_remainder_order(const Function& f, const std::vector<Tensor>& inputs,
                              std::uint64_t seed) {
  std::deque<Parameter> parameters = as_parameters(inputs);
  const std::function<Var(Tape&)> on_tape = watching(f, parameters);
  const Objective objective(on_tape, seed);
  objective.backward();
  Generator generator(seed + 1);
  double slope = 0.0;
  std::vector<Tensor> directions;
  for (const Parameter& parameter : parameters) {
    directions.push_back(generator.randn(parameter.value.shape()));
    if (parameter.grad.defined()) slope += dot(parameter.grad, directions.back());
  }
  const double start = objective.value();
  const auto change = [&](double h) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      parameters[i].value =
          zip(inputs[i], directions[i], [h](double x, double v) { return x + h * v; });
    }
    return objective.value() - start;
  };
  const auto remainder = [&](double h) { return std::abs(change(h) - h * slope); };
  constexpr double kLarge = 1e-3, kSmall = 1e-4;
  const double left = -change(-kSmall) / kSmall, right = change(kSmall) / kSmall;
  const double jump = std::abs(right - left),
               jump_before = std::abs(change(kLarge) + change(-kLarge)) / kLarge;
  constexpr double kJump = 1e-3;  // a kink, unless the jump shrinks with the step
  check(!(jump > kJump * std::max(std::abs(left), std::abs(right)) && jump > 0.5 * jump_before),
        "taylor_remainder_order", "inputs", "must not lie at a kink of the function",
        [&] { return fmt::format("slopes {:.4g} and {:.4g} to its sides", left, right); });
  return std::log(remainder(kLarge) / remainder(kSmall)) / std::log(kLarge / kSmall);
}

}  // namespace normlab
