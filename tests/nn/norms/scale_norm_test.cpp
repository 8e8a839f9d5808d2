#include "nn/norms/scale_norm.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "nn/norms/rms_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("ScaleNorm: a row of 64 has the length 8 at the start") {
  ScaleNorm norm_64(64, 0.0);
  CHECK(norm_64.g.value.item() == 8.0);
  CHECK(std::abs(norm(evaluate(norm_64, random({64}))) - 8.0) <= 1e-13);
}

TEST_CASE("ScaleNorm: the documented formula, worked out by hand") {
  ScaleNorm norm(2, 0.75);
  norm.g.value = Tensor::scalar(3.0);
  const double length = std::sqrt(25.0 + 0.75);
  CHECK(relative_error(evaluate(norm, Tensor({1, 2}, {3, -4})),
                       Tensor({1, 2}, {9 / length, -12 / length})) <= 1e-15);
}

TEST_CASE("ScaleNorm: starts as RMSNorm, whose eps is measured per feature") {
  ScaleNorm norm(6, 0.6);
  RMSNorm rms(6, {.eps = 0.1});
  CHECK(relative_error(evaluate(norm, random({4, 6})), evaluate(rms, random({4, 6}))) <= 1e-14);
}

TEST_CASE("ScaleNorm: gradients agree with differences") {
  for (const double eps : {1e-5, 0.5}) {
    ScaleNorm norm(5, eps);
    randomize_parameters(norm);
    check_module_gradients(norm, random({2, 3, 5}));
  }
}

TEST_CASE("ScaleNorm: rows of 1e200 get their length, rows of zeros stay") {
  ScaleNorm norm(2);
  norm.g.value = Tensor::scalar(5.0);
  CHECK(relative_error(evaluate(norm, Tensor({1, 2}, {3e200, -4e200})), Tensor({1, 2}, {3, -4})) <=
        1e-15);
  CHECK(relative_error(evaluate(norm, Tensor::zeros({1, 2})), Tensor::zeros({1, 2})) == 0.0);
}

TEST_CASE("ScaleNorm: an empty batch, wrong widths and options") {
  ScaleNorm norm(8);
  check_empty_module(norm, {0, 5, 8}, {0, 5, 8});
  check_input_refused(norm, {2, 7}, "[rms_norm] x");
  check_refused([] { ScaleNorm(0); }, "[ScaleNorm] width: must be positive");
  check_refused([] { ScaleNorm(4, -1.0); }, "[ScaleNorm] eps");
}
