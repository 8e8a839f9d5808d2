#include "nn/norms/adaptive_layer_norm.hpp"

#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

// Width 5, condition of width 3, random parameters.
std::unique_ptr<AdaptiveLayerNorm> small_norm() {
  Generator generator(1);
  auto norm = std::make_unique<AdaptiveLayerNorm>(5, 3, generator);
  randomize_parameters(*norm);
  return norm;
}

}  // namespace

TEST_CASE("AdaptiveLayerNorm: the documented formula in primitive ops") {
  const auto norm = small_norm();
  const Function formula = [&](const Vars& in) {
    Tape& tape = in[0].tape();
    const Var shift_and_scale = linear(silu(in[1]), tape.watch(norm->modulation.weight),
                                       tape.watch(*norm->modulation.bias));
    const Var centred = in[0] - mean(in[0], {-1}, true);
    const Var normalized = centred / sqrt(mean(square(centred), {-1}, true) + 1e-6);
    const auto part = [&](std::int64_t first) {
      return reshape(slice(shift_and_scale, 1, first, first + 5), {2, 1, 5});
    };
    return normalized * (1.0 + part(5)) + part(0);
  };
  check_same([&](const Vars& in) { return norm->forward(in[0], in[1]); }, formula,
             {random({2, 4, 5}), random({2, 3}, 2)});
}

TEST_CASE("AdaptiveLayerNorm: with zero_init it starts as LayerNorm, exactly") {
  Generator generator(1);
  AdaptiveLayerNorm norm(5, 3, generator, {.zero_init = true});
  LayerNorm plain(5, {.eps = 1e-6, .elementwise_affine = false});
  const Tensor x = random({2, 4, 5});
  Tape tape;
  const Tensor y = norm.forward(tape.constant(x), tape.constant(random({2, 3}, 2))).value();
  CHECK(max_abs_difference(y, evaluate(plain, x)) == 0.0);
  // Training can leave this start, since the modulation has a gradient.
  tape.backward(norm.forward(tape.constant(x), tape.constant(random({2, 3}, 2))),
                random({2, 4, 5}, 3));
  CHECK(normlab::norm(norm.modulation.weight.grad) > 0.1);
}

TEST_CASE("AdaptiveLayerNorm: gradients agree with differences, through the condition, too") {
  const auto norm = small_norm();
  const GradcheckResult result =
      check_gradients([&](const Vars& in) { return norm->forward(in[0], in[1]); },
                      {random({2, 4, 5}), random({2, 3}, 2)});
  CHECK_MESSAGE(result.passed, result.report);

  Generator generator(1);
  AdaptiveLayerNorm of_mean_token(5, 5, generator);
  randomize_parameters(of_mean_token);
  check_module_gradients(of_mean_token, random({2, 3, 5}));
}

TEST_CASE("AdaptiveLayerNorm: alone it is conditioned on the mean token of each sequence") {
  Generator generator(1);
  AdaptiveLayerNorm norm(5, 5, generator);
  check_same([&](const Vars& in) { return norm.forward(in[0]); },
             [&](const Vars& in) { return norm.forward(in[0], mean(in[0], {1})); },
             {random({2, 4, 5})}, 1e-15);
}

TEST_CASE("AdaptiveLayerNorm: its only parameters are the modulation's") {
  const auto named = small_norm();
  REQUIRE(named->named_parameters().size() == 2);
  CHECK(named->parameter("modulation.weight").value.shape().str() == "(10, 3)");
  CHECK(named->parameter("modulation.bias").value.shape().str() == "(10,)");
}

TEST_CASE("AdaptiveLayerNorm: condition and tokens must fit") {
  const auto norm = small_norm();
  Tape tape;
  const auto refused = [&](const Shape& x, const Shape& condition) {
    check_refused(
        [&] { norm->forward(tape.constant(random(x)), tape.constant(random(condition))); },
        "[AdaptiveLayerNorm] x, condition: must be (N, T, d) and (N, condition width)");
  };
  refused({2, 4, 5}, {3, 3});
  refused({2, 5}, {2, 3});
  refused({2, 4, 5}, {2, 1, 3});
  const Var x = tape.constant(random({2, 4, 5})), one_row = tape.constant(random({1, 5})),
            two_rows = tape.constant(random({2, 5}));
  check_refused([&] { modulate(x, one_row, two_rows); },
                "[modulate] shift: must have shape (2, 5)");
  check_refused([&] { modulate(x, two_rows, one_row); },
                "[modulate] scale: must have shape (2, 5)");
  Generator generator(1);
  AdaptiveLayerNorm of_mean_token(5, 5, generator);
  check_empty_module(of_mean_token, {0, 4, 5}, {0, 4, 5});
}
