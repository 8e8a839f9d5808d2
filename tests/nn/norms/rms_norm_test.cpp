#include "nn/norms/rms_norm.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "nn/norms/layer_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("RMSNorm: values and gradients are those of the formula in PyTorch") {
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "rms_norm")) {
    RMSNorm norm(Shape(fixture.option<std::vector<std::int64_t>>("normalized_shape")),
                 {.eps = fixture.option<double>("eps"),
                  .elementwise_affine = fixture.option<bool>("elementwise_affine")});
    check_module_fixture(norm, fixture, [&](const Vars& in) { return norm.forward(in[0]); });
  }
}

TEST_CASE("RMSNorm: gradients agree with differences") {
  for (const Shape& shape : {Shape{5}, Shape{3, 5}}) {
    for (const RMSNorm::Options& options : {RMSNorm::Options{}, RMSNorm::Options{.eps = 0.1},
                                            RMSNorm::Options{.elementwise_affine = false}}) {
      RMSNorm norm(shape, options);
      randomize_parameters(norm);
      check_module_gradients(norm, random({2, 3, 5}));
    }
  }
}

TEST_CASE("RMSNorm: the documented formula, worked out by hand") {
  // The root mean square of {3, 4} is sqrt((9 + 16) / 2) = 3.53553.
  RMSNorm norm(2);
  const double rms = 3.5355339059327378;
  CHECK(relative_error(evaluate(norm, Tensor({2}, {3, 4})), Tensor({2}, {3 / rms, 4 / rms})) <=
        1e-15);
  norm.weight->value = Tensor({2}, {2, -1});
  CHECK(relative_error(evaluate(norm, Tensor({2}, {3, 4})), Tensor({2}, {6 / rms, -4 / rms})) <=
        1e-15);
}

TEST_CASE("RMSNorm: equals LayerNorm on rows of mean zero, for the same eps only") {
  const Tensor x({1, 4}, {1e-3, -3e-3, -1e-3, 3e-3});
  RMSNorm rms(4, {.eps = 1e-5}), default_rms(4);
  LayerNorm layer(4, {.eps = 1e-5}), default_layer(4);
  CHECK(relative_error(evaluate(rms, x), evaluate(layer, x)) <= 1e-15);
  // The defaults differ: rms 1 against 1 / sqrt(1 + 1e-5 / 5e-6) = 0.577.
  CHECK(std::abs(norm(evaluate(default_rms, x)) - 2.0) <= 1e-9);
  CHECK(std::abs(norm(evaluate(default_layer, x)) - 2.0 / std::sqrt(3.0)) <= 1e-9);
}

TEST_CASE("RMSNorm: weight starts at one, there is no bias") {
  RMSNorm norm(3);
  REQUIRE(norm.named_parameters().size() == 1);
  CHECK(relative_error(norm.parameter("weight").value, Tensor::ones({3})) == 0.0);
  RMSNorm plain(3, {.elementwise_affine = false});
  CHECK(plain.parameters().empty());
}

TEST_CASE("RMSNorm: an empty batch gives an empty result and zero parameter gradients") {
  RMSNorm norm(8);
  check_empty_module(norm, {0, 5, 8}, {0, 5, 8});
}

TEST_CASE("RMSNorm: a row of zeros gives zeros with finite gradients, even at eps 0") {
  for (const double eps : {std::numeric_limits<double>::epsilon(), 0.0}) {
    CAPTURE(eps);
    RMSNorm norm(4, {.eps = eps});
    const Evaluation result =
        evaluate([&](const Vars& in) { return norm.forward(in[0]); }, {Tensor::zeros({1, 4})});
    CHECK(relative_error(result.value, Tensor::zeros({1, 4})) == 0.0);
    CHECK(all_finite(result.gradients[0]));
    CHECK(all_finite(norm.weight->grad));
  }
}

TEST_CASE("RMSNorm: wrong eps, shapes and widths are refused") {
  for (const double eps : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(eps);
    check_refused([&] { RMSNorm(4, {.eps = eps}); },
                  "[RMSNorm] eps: must be a finite number of at least 0");
  }
  check_refused([] { RMSNorm(Shape{0}); },
                "[RMSNorm] normalized_shape: must hold at least one feature");
  RMSNorm norm(4);
  check_input_refused(norm, {1, 4, 3, 5},
                      "[rms_norm] x: must end in the normalized shape (4,) (axis 1 fits");
}
