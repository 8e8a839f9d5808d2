#include "tests/support/module_checks.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/ops/attention.hpp"

namespace normlab {

Tensor evaluate(Layer& module, const Tensor& x) {
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  return module.forward(tape.constant(x)).value();
}

void randomize_parameters(Module& module, std::uint64_t seed) {
  Generator generator(seed);
  for (const auto& [name, parameter] : module.named_parameters()) {
    const bool is_scale = parameter->value.rank() == 1 && name.ends_with("weight");
    parameter->value = map(generator.randn(parameter->value.shape()),
                           [is_scale](double z) { return 0.4 * z + (is_scale ? 1.0 : 0.0); });
  }
}

void load_parameters(Module& module, const FixtureCase& fixture) {
  const auto named = module.named_parameters();
  REQUIRE(named.size() == fixture.parameters.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, expected] = fixture.parameters[i];
    REQUIRE(named[i].first == name);
    REQUIRE(named[i].second->value.shape().str() == Shape(expected.shape).str());
    named[i].second->value = tensor_of(expected);
  }
  module.zero_grad();
}

void check_module_fixture(Module& module, const FixtureCase& fixture, const Function& f,
                          double tolerance) {
  CAPTURE(fixture.name);
  load_parameters(module, fixture);
  Tape tape;
  Vars inputs;
  for (const auto& [name, input] : fixture.inputs) {
    const bool differentiable = find_tensor(fixture.input_grads, name) != nullptr;
    inputs.push_back(differentiable ? tape.variable(tensor_of(input))
                                    : tape.constant(tensor_of(input)));
  }
  const Var y = f(inputs);
  tape.backward(y, tensor_of(fixture.cotangent("y")));

  CHECK(relative_error(y.value(), tensor_of(fixture.output("y"))) <= tolerance);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].needs_grad()) continue;
    const std::string& name = fixture.inputs[i].first;
    CAPTURE(name);
    CHECK(relative_error(inputs[i].grad(), tensor_of(fixture.input_grad(name))) <= tolerance);
  }
  for (const auto& [case_name, parameter] : module.named_parameters()) {
    const auto& name = case_name;
    CAPTURE(name);
    CHECK(relative_error(parameter->grad, tensor_of(fixture.parameter_grad(name))) <= tolerance);
  }
}

AttentionMasks make_masks(const FixtureCase& fixture, const std::string& attn_mask,
                          const std::string& key_padding_mask) {
  AttentionMasks masks;
  if (fixture.has_input(attn_mask)) {
    masks.attn_mask = tensor_of(fixture.input(attn_mask));
    if (fixture.option<std::string>("mask_kind") == "bool_blocked") {
      masks.attn_mask = mask_where_forbidden(masks.attn_mask);
    }
  }
  if (fixture.has_input(key_padding_mask)) {
    masks.key_padding_mask = tensor_of(fixture.input(key_padding_mask));
  }
  masks.is_causal = fixture.option<bool>("is_causal");
  return masks;
}

void check_module_gradients(Layer& module, const Tensor& x,
                            const std::vector<std::string>& expect_zero, double tolerance) {
  Parameter input{"x", x};
  auto named = module.named_parameters();
  named.emplace_back("x", &input);
  GradcheckOptions options{.tolerance = tolerance};
  std::vector<Parameter*> parameters;
  for (std::size_t i = 0; i < named.size(); ++i) {
    parameters.push_back(named[i].second);
    if (std::ranges::count(expect_zero, named[i].first) > 0) options.expect_zero.push_back(i);
  }
  REQUIRE(options.expect_zero.size() == expect_zero.size());
  const GradcheckResult result = check_parameter_gradients(
      [&](Tape& tape) { return module.forward(tape.watch(input)); }, parameters, options);
  CHECK_MESSAGE(result.passed, result.report);
}

void check_input_refused(Layer& layer, const Shape& x, std::string_view message) {
  check_refused([&] { evaluate(layer, random(x)); }, message);
}

void check_empty_module(Layer& module, const Shape& x, const Shape& result) {
  module.zero_grad();
  Tape tape;
  const Var input = tape.variable(Tensor::zeros(x));
  const Var y = module.forward(input);
  REQUIRE(y.shape().str() == result.str());
  tape.backward(y, Tensor::zeros(result));
  CHECK(input.grad().shape().str() == x.str());
  for (const auto& [case_name, parameter] : module.named_parameters()) {
    const auto& name = case_name;
    CAPTURE(name);
    CHECK(relative_error(parameter->grad, Tensor::zeros(parameter->value.shape())) == 0.0);
  }
}

}  // namespace normlab
