#include "nn/optim/gradient_clipping.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Parameter with_gradient(const Tensor& gradient) {
  return {"w", Tensor::zeros(gradient.shape()), gradient};
}

}  // namespace

TEST_CASE("clip_grad_norm: PyTorch's norm and gradients, for several p") {
  for (const FixtureCase& fixture : load_fixture_cases("optimizers.json", "clip_grad_norm")) {
    CAPTURE(fixture.name);
    Parameter one = with_gradient(tensor_of(fixture.input("g1")));
    Parameter two = with_gradient(tensor_of(fixture.input("g2")));
    const double p = fixture.option_is_number("p") ? fixture.option<double>("p") : kInfinity;
    const double norm = clip_grad_norm({&one, &two}, fixture.option<double>("max_norm"), p);
    CHECK(relative_error(Tensor::scalar(norm), tensor_of(fixture.output("norm"))) <= 1e-14);
    CHECK(relative_error(one.grad, tensor_of(fixture.output("g1"))) <= 1e-14);
    CHECK(relative_error(two.grad, tensor_of(fixture.output("g2"))) <= 1e-14);
  }
}

TEST_CASE("clip_grad_value: PyTorch's gradients") {
  for (const FixtureCase& fixture : load_fixture_cases("optimizers.json", "clip_grad_value")) {
    Parameter one = with_gradient(tensor_of(fixture.input("g1")));
    Parameter two = with_gradient(tensor_of(fixture.input("g2")));
    clip_grad_value({&one, &two}, fixture.option<double>("limit"));
    CHECK(max_abs_difference(one.grad, tensor_of(fixture.output("g1"))) == 0.0);
    CHECK(max_abs_difference(two.grad, tensor_of(fixture.output("g2"))) == 0.0);
  }
}

TEST_CASE("clip_grad_norm: nothing to clip has norm 0, for every p") {
  Parameter none{"w", Tensor::zeros({2})};
  for (const double p : {1.0, 2.0, kInfinity}) {
    CHECK(clip_grad_norm({}, 1.0, p) == 0.0);
    CHECK(clip_grad_norm({&none}, 1.0, p) == 0.0);
    Parameter empty = with_gradient(Tensor::zeros({0, 3}));
    CHECK(clip_grad_norm({&empty}, 1.0, p) == 0.0);
  }
  clip_grad_value({&none}, 1.0);
  CHECK_FALSE(none.grad.defined());
}

TEST_CASE("clip_grad_norm: large and small gradients have finite norms") {
  for (const double scale : {1e-200, 1e200}) {
    for (const double p : {1.0, 2.0, 3.0, kInfinity}) {
      Parameter one = with_gradient(Tensor({2}, {3 * scale, 0}));
      Parameter two = with_gradient(Tensor({1}, {4 * scale}));
      const double expected = p == 1.0 ? 7.0 : p == 2.0 ? 5.0 : p == 3.0 ? std::cbrt(91.0) : 4.0;
      CHECK(std::abs(grad_norm({&one, &two}, p) / scale - expected) <= 1e-14 * expected);
    }
  }
}

TEST_CASE("clip_grad_norm: NaN and infinity reach the norm and, as in PyTorch, the gradients") {
  for (const double p : {1.0, 2.0, 3.0, kInfinity}) {
    CAPTURE(p);
    Parameter nan = with_gradient(Tensor({3}, {1, kNaN, 7})),
              other = with_gradient(Tensor({1}, {9}));
    CHECK(std::isnan(clip_grad_norm({&nan, &other}, 1.0, p)));
    CHECK(std::isnan(other.grad.item()));
    Parameter inf = with_gradient(Tensor({2}, {1, -kInfinity}));
    CHECK(std::isinf(clip_grad_norm({&inf}, 1.0, p)));
    CHECK(inf.grad.at({0}) == 0.0);
    CHECK(std::isnan(inf.grad.at({1})));
  }
  Parameter nan = with_gradient(Tensor({2}, {kNaN, kInfinity}));
  clip_grad_value({&nan}, 2.0);
  CHECK(std::isnan(nan.grad.at({0})));
  CHECK(nan.grad.at({1}) == 2.0);
}

TEST_CASE("clip_grad_norm: limits that make no sense are refused") {
  check_refused([] { clip_grad_norm({}, -1.0); }, "[clip_grad_norm] max_norm");
  check_refused([] { clip_grad_norm({}, kNaN); }, "[clip_grad_norm] max_norm");
  check_refused([] { clip_grad_norm({}, 1.0, 0.0); }, "[grad_norm] p: must be positive");
  check_refused([] { clip_grad_value({}, -1.0); }, "[clip_grad_value] limit");
}
