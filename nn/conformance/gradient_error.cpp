// Tested by tests/nn/conformance/gradient_error_test.cpp.
#include "nn/conformance/gradient_error.hpp"

#include <algorithm>

#include "core/kernels/map.hpp"
#include "core/random.hpp"
#include "core/tools/gradcheck.hpp"
#include "nn/conformance/conformance_checks.hpp"

namespace normlab {

namespace {

double worst_error(Layer& layer, const Tensor& x) {
  Parameter input{"input", x};
  std::vector<Parameter*> all = layer.parameters();
  all.push_back(&input);
  return check_parameter_gradients([&](Tape& tape) { return layer.forward(tape.watch(input)); },
                                   all)
      .worst_relative_error;
}

bool has_zero_gradient(Layer& layer, const Tensor& x) {
  const auto zero = [](const Tensor& gradient) {
    return !gradient.defined() || norm(gradient) == 0.0;
  };
  const conformance::Pass pass = conformance::run_pass(layer, x);
  layer.zero_grad();
  return zero(pass.input_gradient) ||
         std::any_of(pass.parameter_gradients.begin(), pass.parameter_gradients.end(),
                     [&](const auto& gradient) { return zero(gradient.second); });
}

}  // namespace

Tensor sample_tokens(std::int64_t width) {
  return map(Generator(1).randn({2, 3, width}), [](double v) { return v + 0.5; });
}

double gradient_error(const NormEntry& entry, const Tensor& x, std::optional<double> eps) {
  std::unique_ptr<Layer> layer = conformance::make_layer(entry.make, x.width(), eps);
  if (has_zero_gradient(*layer, x)) {
    layer = conformance::with_random_parameters(entry.make, x.width(), eps);
  }
  return worst_error(*layer, x);
}

}  // namespace normlab
