#include "nn/conformance/gradient_error.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "tests/support/function_layer.hpp"

using namespace normlab;

namespace {

// As SeeDNorm: y = (tanh(x . beta) alpha + gamma) x / rms. beta starts at zero, so that the
// gradient of alpha is zero at first.
class StartsAtZero : public Layer {
 public:
  explicit StartsAtZero(std::int64_t width) {
    register_parameter("alpha", Tensor::ones({width}));
    register_parameter("beta", Tensor::zeros({width}));
    register_parameter("gamma", Tensor::ones({width}));
  }
  Var forward(const Var& x) override {
    const auto watch = [&](const char* name) { return x.tape().watch(parameter(name)); };
    const Var rms = sqrt(mean(square(x), {-1}, true) + 1e-5);
    const Var along_beta = tanh(sum(x * watch("beta"), {-1}, true));
    return (along_beta * watch("alpha") + watch("gamma")) * (x / rms);
  }
};

NormEntry tested_entry(const FunctionLayer::Forward& forward) {
  return make_entry(forward, rms_norm_properties());
}

}  // namespace

TEST_CASE("gradient_error: a right norm whose factor starts at zero is called right") {
  NormEntry entry = tested_entry(apply_rms_norm);
  entry.make = [](std::int64_t width, std::optional<double>) {
    return std::make_unique<StartsAtZero>(width);
  };
  CHECK(gradient_error(entry, sample_tokens(8)) < kLargestGradientError);
}

TEST_CASE("gradient_error: every registered norm is right, at its own eps and at another") {
  for (const NormEntry& entry : nn::norms()) {
    CAPTURE(entry.name);
    CHECK(gradient_error(entry, sample_tokens(6)) < kLargestGradientError);
    CHECK(gradient_error(entry, sample_tokens(6), 0.1) < kLargestGradientError);
  }
}

TEST_CASE("gradient_error: a wrong gradient, one that stays zero, and NaN") {
  // The root mean square taken for a constant.
  const NormEntry wrong = tested_entry([](FunctionLayer& layer, const Var& x) {
    const Var rms = sqrt(mean(square(x), {-1}, true) + 1e-5);
    return layer.watch(x, "weight") * (x / x.tape().constant(rms.value()));
  });
  CHECK(gradient_error(wrong, sample_tokens(8)) > 0.01);
  const NormEntry unused = tested_entry(
      [](FunctionLayer& layer, const Var& x) { return layer.watch(x, "weight") * 0.0 + x; });
  CHECK(std::isinf(gradient_error(unused, sample_tokens(8))));
  const NormEntry none = tested_entry([](FunctionLayer& layer, const Var& x) {
    return layer.watch(x, "weight") * x * std::nan("");
  });
  CHECK(std::isinf(gradient_error(none, sample_tokens(8))));
}
