#include "core/ops/rms_norm.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Function normalizing(const Shape& shape, double eps) {
  return [=](const Vars& in) {
    return rms_norm(in[0], shape, in.size() > 1 ? std::optional(in[1]) : std::nullopt, eps);
  };
}

Evaluation plain(const Tensor& x, double eps) {
  return evaluate(normalizing({x.width()}, eps), {x});
}

Var composed(const Vars& in, const Shape& shape, double eps) {
  Axes axes;
  for (std::int64_t back = shape.rank(); back > 0; --back) axes.push_back(-back);
  const Var y = in[0] / sqrt(mean(square(in[0]), axes, true) + eps);
  return in.size() > 1 ? y * in[1] : y;
}

struct Case {
  Shape x, normalized;
};
const std::vector<Case> kCases{{{5}, {5}},          {{2, 3}, {3}},          {{2, 3, 4}, {4}},
                               {{2, 3, 4}, {3, 4}}, {{2, 3, 4}, {2, 3, 4}}, {{3, 17}, {17}},
                               {{2, 1}, {1}}};

}  // namespace

TEST_CASE("rms_norm: values and gradients equal PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("loss_and_norm_ops.json", "rms_norm")) {
    const Shape shape(fixture.option<std::vector<std::int64_t>>("normalized_shape"));
    check_fixture(fixture, normalizing(shape, fixture.option<double>("eps")));
  }
}

TEST_CASE("rms_norm: gradients agree with differences") {
  for (const Case& c : kCases) {
    CAPTURE(c.x.str());
    CAPTURE(c.normalized.str());
    const Tensor x = random(c.x, 1), weight = random(c.normalized, 2);
    check_backward(normalizing(c.normalized, 0.1), {x, weight});
    check_backward(normalizing(c.normalized, 0.1), {x});
  }
  check_backward(normalizing({5}, 1e-6), {random({4, 5}, 1), random({5}, 2)});
}

TEST_CASE("rms_norm: equals its composition from primitives") {
  for (const Case& c : kCases) {
    const Function expected = [&c](const Vars& in) { return composed(in, c.normalized, 0.01); };
    const Tensor x = random(c.x, 1), weight = random(c.normalized, 2);
    check_same(normalizing(c.normalized, 0.01), expected, {x, weight});
    check_same(normalizing(c.normalized, 0.01), expected, {x});
  }
  check_same(normalizing({1000}, 1e-6), [](const Vars& in) { return composed(in, {1000}, 1e-6); },
             {random({2, 1000}, 1), random({1000}, 2)});
}

TEST_CASE("rms_norm: passes the gradient on to a layer before it") {
  check_backward([](const Vars& in) { return rms_norm(linear(in[0], in[1]), {5}, in[2]); },
                 {random({4, 3}, 1), random({5, 3}, 2), random({5}, 3)});
}

TEST_CASE("rms_norm: one Var as x and weight gets both contributions") {
  check_backward([](const Vars& in) { return rms_norm(in[0], {4}, in[0], 0.1); }, {random({4})});
}

TEST_CASE("rms_norm: eps is added under the root, not to the root") {
  const Tensor y = plain(Tensor({2}, {0.001, -0.001}), 1e-5).value;
  CHECK(relative_error(y, Tensor({2}, {0.30151134, -0.30151134})) < 2e-8);
}

TEST_CASE("rms_norm: equals layer_norm on centred rows for the same eps") {
  const Tensor x({2, 3}, {1e-3, -3e-3, 2e-3, -2e-3, 0.5e-3, 1.5e-3});
  for (double eps : {1e-5, 1e-2, 0.0}) {
    const Tensor by_layer_norm =
        evaluate([eps](const Vars& in) { return layer_norm(in[0], {3}, {}, {}, eps); }, {x}).value;
    CHECK(relative_error(plain(x, eps).value, by_layer_norm) <= 1e-13);
  }
  // The defaults differ: machine epsilon here, 1e-5 there.
  const Tensor by_default =
      evaluate([](const Vars& in) { return rms_norm(in[0], {3}); }, {x}).value;
  const double epsilon = std::numeric_limits<double>::epsilon();
  CHECK(relative_error(by_default, plain(x, epsilon).value) == 0.0);
  CHECK(relative_error(by_default, plain(x, 1e-5).value) > 0.1);
}

TEST_CASE("rms_norm: rows whose squares overflow or underflow are normalized like others") {
  const Tensor expected({2}, {3 / std::sqrt(12.5), -4 / std::sqrt(12.5)});
  CHECK(relative_error(expected, Tensor({2}, {0.84852814, -1.13137085})) < 1e-8);
  for (double eps : {0.0, std::numeric_limits<double>::epsilon(), 1e-5}) {
    const Evaluation y = plain(Tensor({2}, {3e200, -4e200}), eps);
    CHECK(relative_error(y.value, expected) <= 1e-15);
    CHECK(all_finite(y.gradients[0]));
  }
  const Evaluation ordinary = plain(Tensor({2}, {3, -4}), 0.0);
  for (double unit : {1e200, 1e-200, 1e300, 1e-290}) {
    CAPTURE(unit);
    const Evaluation y = plain(Tensor({2}, {3 * unit, -4 * unit}), 0.0);
    CHECK(relative_error(y.value, expected) <= 1e-14);
    Tensor in_units = y.gradients[0];
    for (double& g : in_units.mutable_values()) g *= unit;
    CHECK(relative_error(in_units, ordinary.gradients[0]) <= 1e-14);
  }
}

TEST_CASE("rms_norm: subnormal rows are normalized like others") {
  const auto value = [](const Tensor& x, double eps) {
    return evaluate([eps](const Vars& in) { return rms_norm(in[0], {2}, std::nullopt, eps); }, {x})
        .value;
  };
  CHECK(relative_error(value(Tensor({2}, {5e-309, 5e-309}), 0.0), Tensor({2}, {1, 1})) <= 2.3e-16);
  CHECK(relative_error(value(Tensor({2}, {5e-324, -5e-324}), 0.0), Tensor({2}, {1, -1})) == 0.0);
  CHECK(relative_error(value(Tensor({2}, {1e-310, -1e-310}), 1e-300),
                       Tensor({2}, {1e-160, -1e-160})) <= 1e-13);
}

TEST_CASE("rms_norm: long rows are summed without a growing error") {
  for (std::int64_t width : {4096, 1000000}) {
    const Tensor x = Tensor::full({width}, 0.1);
    const Tensor y =
        evaluate([&](const Vars& in) { return rms_norm(in[0], {width}, std::nullopt, 0.0); }, {x})
            .value;
    CHECK(std::abs(y.at({0}) - 1.0) <= 4e-16);
  }
}

TEST_CASE("rms_norm: rows of zeros are zeros at eps 0, not 0 / 0, and a wrong eps is refused") {
  for (double eps : {0.0, 1e-5}) {
    const Evaluation y = plain(Tensor::zeros({2, 3}), eps);
    CHECK(relative_error(y.value, Tensor::zeros({2, 3})) == 0.0);
    CHECK(all_finite(y.gradients[0]));
  }
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3}));
  for (double eps : {-1.0, kNan, std::numeric_limits<double>::infinity()}) {
    check_refused([&] { rms_norm(x, {3}, std::nullopt, eps); },
                  "[rms_norm] eps: must be a finite number of at least 0, got");
  }
}

TEST_CASE("rms_norm: arguments that do not fit are refused") {
  Tape tape;
  const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
  check_refused([&] { rms_norm(zeros({2, 3}), {}); }, "[rms_norm] normalized_shape: must name");
  check_refused(
      [&] {
        rms_norm(zeros({2, 3}), {4});
      },
      "[rms_norm] x: must end in the normalized shape (4,), got (2, 3)");
  check_refused(
      [&] {
        rms_norm(zeros({1, 4, 3, 5}), {4});
      },
      "[rms_norm] x: must end in the normalized shape (4,) (axis 1 fits");
  check_refused(
      [&] {
        rms_norm(zeros({2, 3}), {3}, zeros({2}));
      },
      "[rms_norm] weight: must have shape (3,), got (2,)");
}

TEST_CASE("rms_norm: inputs without elements give zero parameter gradients") {
  check_empty(normalizing({8}, 1e-5), {Tensor::zeros({0, 5, 8}), Tensor::ones({8})}, {0, 5, 8});
  check_empty(normalizing({5, 8}, 1e-5), {Tensor::zeros({0, 5, 8}), Tensor::ones({5, 8})},
              {0, 5, 8});
}

TEST_CASE("rms_norm: NaN fills its own row and no other") {
  const Evaluation y = plain(Tensor({2, 3}, {1, kNan, 2, 1, 2, 4}), 1e-5);
  for (std::int64_t j = 0; j < 3; ++j) {
    CHECK(std::isnan(y.value.at({0, j})));
    CHECK(std::isfinite(y.value.at({1, j})));
    CHECK(std::isfinite(y.gradients[0].at({1, j})));
  }
}
