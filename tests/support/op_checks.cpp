#include "tests/support/op_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/random.hpp"

namespace normlab {

Tensor random(const Shape& shape, std::uint64_t seed) { return Generator(seed).randn(shape); }

Tensor random_away_from_zero(const Shape& shape, std::uint64_t seed, double gap) {
  return map(random(shape, seed), [gap](double v) { return v + std::copysign(gap, v); });
}

Tensor random_positive(const Shape& shape, std::uint64_t seed, double gap) {
  return map(random(shape, seed), [gap](double v) { return gap + std::abs(v); });
}

Tensor tensor_of(const FixtureTensor& fixture) { return {Shape(fixture.shape), fixture.data}; }

double relative_error(const Tensor& got, const Tensor& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!got.defined() || got.shape() != expected.shape()) return kInfinity;
  const double difference = norm(zip(got, expected, std::minus<>{}));
  if (difference == 0.0) return 0.0;
  const double error = difference / norm(expected);
  return std::isnan(error) ? kInfinity : error;
}

Evaluation evaluate(const Function& f, const std::vector<Tensor>& inputs, const Tensor& cotangent) {
  Tape tape;
  Vars variables;
  for (const Tensor& input : inputs) variables.push_back(tape.variable(input));
  const Var y = f(variables);
  tape.backward(y, cotangent);
  Evaluation result{y.value(), {}};
  for (const Var& variable : variables) result.gradients.push_back(variable.grad());
  return result;
}

Evaluation evaluate(const Function& f, const std::vector<Tensor>& inputs) {
  Tape tape;
  Vars constants;
  for (const Tensor& input : inputs) constants.push_back(tape.constant(input));
  return evaluate(f, inputs, random(f(constants).shape(), 99));
}

void check_fixture(const FixtureCase& fixture, const Function& f, double tolerance) {
  CAPTURE(fixture.name);
  std::vector<Tensor> inputs;
  for (const auto& [name, gradient] : fixture.input_grads) {
    inputs.push_back(tensor_of(fixture.input(name)));
  }
  const Evaluation got = evaluate(f, inputs, tensor_of(fixture.cotangent("y")));
  CHECK(relative_error(got.value, tensor_of(fixture.output("y"))) <= tolerance);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(fixture.input_grads[i].first);
    CHECK(relative_error(got.gradients[i], tensor_of(fixture.input_grads[i].second)) <= tolerance);
  }
}

void check_same(const Function& f, const Function& expected, const std::vector<Tensor>& inputs,
                double tolerance) {
  const Evaluation got = evaluate(f, inputs), right = evaluate(expected, inputs);
  CHECK(relative_error(got.value, right.value) <= tolerance);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    CHECK(relative_error(got.gradients[i], right.gradients[i]) <= tolerance);
  }
}

void check_backward(const Function& f, const std::vector<Tensor>& inputs,
                    const GradcheckOptions& options) {
  const GradcheckResult result = check_gradients(f, inputs, options);
  CHECK_MESSAGE(result.passed, result.report);

  const Evaluation once = evaluate(f, inputs);
  const Evaluation twice = evaluate([&f](const Vars& in) { return f(in) + f(in); }, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    const Tensor doubled = map(once.gradients[i], [](double g) { return 2.0 * g; });
    CHECK(relative_error(twice.gradients[i], doubled) <= 1e-15);
    const Function of_one = [&](const Vars& in) {
      Vars all;
      for (const Tensor& input : inputs) all.push_back(in[0].tape().constant(input));
      all[i] = in[0];
      return f(all);
    };
    CHECK(max_abs_difference(evaluate(of_one, {inputs[i]}).gradients[0], once.gradients[i]) == 0.0);
  }
}

void check_empty(const Function& f, const std::vector<Tensor>& inputs, const Shape& shape) {
  const Evaluation result = evaluate(f, inputs);
  CHECK(result.value.shape().str() == shape.str());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    REQUIRE(result.gradients[i].defined());
    CHECK(relative_error(result.gradients[i], Tensor::zeros(inputs[i].shape())) == 0.0);
  }
}

void check_refused(const std::function<void()>& call, std::string_view message_start) {
  std::string message = "nothing was thrown";
  try {
    call();
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK_MESSAGE(message.starts_with(message_start), message, " should start with ", message_start);
}

}  // namespace normlab
