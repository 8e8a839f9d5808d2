#include "core/ops/layer_norm.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Inputs x, then weight and bias if there are any.
Function normalizing(const Shape& shape, double eps = 1e-5) {
  return [=](const Vars& in) {
    const auto given = [&in](std::size_t i) {
      return i < in.size() ? std::optional<Var>(in[i]) : std::nullopt;
    };
    return layer_norm(in[0], shape, given(1), given(2), eps);
  };
}

Evaluation plain(const Tensor& x, double eps = 1e-5) {
  return evaluate(normalizing({x.width()}, eps), {x});
}

Axes trailing(const Shape& shape) {
  Axes axes;
  for (std::int64_t back = shape.rank(); back > 0; --back) axes.push_back(-back);
  return axes;
}

Var composed(const Vars& in, const Shape& shape, double eps) {
  const Axes axes = trailing(shape);
  const Var centred = in[0] - mean(in[0], axes, true);
  const Var xhat = centred / sqrt(mean(square(centred), axes, true) + eps);
  return in.size() > 1 ? xhat * in[1] + in[2] : xhat;
}

struct Case {
  Shape x, normalized;

  std::vector<Tensor> inputs() const {
    return {random(x, 1), random(normalized, 2), random(normalized, 3)};
  }
};

const std::vector<Case> kCases{{{5}, {5}},          {{2, 3}, {3}},          {{2, 3, 4}, {4}},
                               {{2, 3, 4}, {3, 4}}, {{2, 3, 4}, {2, 3, 4}}, {{3, 2, 5, 4}, {5, 4}},
                               {{3, 17}, {17}}};

}  // namespace

TEST_CASE("layer_norm: values and gradients equal PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("loss_and_norm_ops.json", "layer_norm")) {
    const Shape shape(fixture.option<std::vector<std::int64_t>>("normalized_shape"));
    const double eps = fixture.option<double>("eps");
    const bool has_weight = fixture.option<bool>("has_weight");
    check_fixture(fixture, [&](const Vars& in) {
      const std::optional<Var> bias =
          fixture.option<bool>("has_bias") ? std::optional(in.back()) : std::nullopt;
      return layer_norm(in[0], shape, has_weight ? std::optional(in[1]) : std::nullopt, bias, eps);
    });
  }
}

TEST_CASE("layer_norm: gradients agree with differences to 1e-8") {
  for (const Case& c : kCases) {
    CAPTURE(c.x.str());
    CAPTURE(c.normalized.str());
    const std::vector<Tensor> inputs = c.inputs();
    const GradcheckOptions options{.tolerance = 1e-8};
    check_backward(normalizing(c.normalized), inputs, options);
    check_backward(normalizing(c.normalized), {inputs[0], inputs[1]}, options);
    check_backward(normalizing(c.normalized, 0.1), {inputs[0]}, options);
    check_backward(
        [&c](const Vars& in) { return layer_norm(in[0], c.normalized, std::nullopt, in[1]); },
        {inputs[0], inputs[2]}, options);
  }
}

TEST_CASE("layer_norm: equals its composition from primitives for short and long rows") {
  for (const Case& c : kCases) {
    for (double eps : {1e-5, 0.1}) {
      const Function expected = [&](const Vars& in) { return composed(in, c.normalized, eps); };
      check_same(normalizing(c.normalized, eps), expected, c.inputs());
      check_same(normalizing(c.normalized, eps), expected, {c.inputs()[0]});
    }
  }
  for (std::int64_t width = 2; width <= 40; ++width) {
    CAPTURE(width);
    check_same(
        normalizing({width}), [&](const Vars& in) { return composed(in, {width}, 1e-5); },
        Case{{3, width}, {width}}.inputs());
  }
  check_same(
      normalizing({1000}), [](const Vars& in) { return composed(in, {1000}, 1e-5); },
      Case{{2, 1000}, {1000}}.inputs());
}

TEST_CASE("layer_norm: passes the gradient on to a layer before it") {
  check_backward(
      [](const Vars& in) { return layer_norm(linear(in[0], in[1], in[2]), {5}, in[3], in[4]); },
      {random({4, 3}, 1), random({5, 3}, 2), random({5}, 3), random({5}, 4), random({5}, 5)});
}

TEST_CASE("layer_norm: one Var as x and weight and bias gets all contributions") {
  check_backward([](const Vars& in) { return layer_norm(in[0], {4}, in[0], in[0]); },
                 {random({4})});
}

TEST_CASE("layer_norm: the variance is the biased one with eps under the root") {
  const Tensor y = plain(Tensor({4}, {1, 2, 3, 4})).value;
  CHECK(relative_error(y, Tensor({4}, {-1.34163542, -0.44721181, 0.44721181, 1.34163542})) < 1e-8);
}

TEST_CASE("layer_norm: a common offset of 1e8 changes neither values nor gradients") {
  const Evaluation near = plain(Tensor({4}, {0, 1, 2, 3}));
  const Evaluation far = plain(Tensor({4}, {1e8, 1e8 + 1, 1e8 + 2, 1e8 + 3}));
  CHECK(relative_error(far.value, near.value) == 0.0);
  CHECK(relative_error(far.gradients[0], near.gradients[0]) == 0.0);
  CHECK(relative_error(near.value,
                       Tensor({4}, {-1.34163542, -0.44721181, 0.44721181, 1.34163542})) < 1e-8);
}

TEST_CASE("layer_norm: offsets cost no more than the rounding of the inputs") {
  for (std::int64_t width : {3, 8, 16, 17, 64, 1000}) {
    CAPTURE(width);
    const auto row = [width](double offset, double step) {
      Tensor x = Tensor::uninitialized({width});
      for (std::int64_t i = 0; i < width; ++i) {
        x.mutable_data()[i] = offset + step * static_cast<double>(i);
      }
      return x;
    };
    // In steps of 2^-10 inputs and mean are doubles and nothing is lost; in steps of 0.001 both are
    // rounded, by half a unit in the last place of the offset, which the norm measures in spreads.
    const Evaluation exact = plain(row(0.0, 0x1p-10)), rounded = plain(row(0.0, 1e-3));
    for (double offset : {1e2, 1e4, 1e6}) {
      CAPTURE(offset);
      const Evaluation y = plain(row(offset, 0x1p-10));
      CHECK(relative_error(y.value, exact.value) <= 1e-12);
      const double spread = 1e-3 * static_cast<double>(width) / std::sqrt(12.0);
      const double tolerance = 1e-12 + 0x1p-52 * offset / spread;
      CHECK(relative_error(plain(row(offset, 1e-3)).value, rounded.value) <= tolerance);
    }
  }
}

TEST_CASE("layer_norm: the mean is subtracted before the weight multiplies") {
  const Evaluation y =
      evaluate(normalizing({1}, 0.1), {Tensor({1}, {-3}), Tensor({1}, {1e12}), Tensor({1}, {-1})});
  CHECK(y.value.item() == -1.0);
  CHECK(y.gradients[0].item() == 0.0);
}

TEST_CASE("layer_norm: a constant row gives exactly the bias and finite gradients") {
  const Tensor weight = random({7}, 2), bias = random({7}, 3);
  for (double eps : {1e-5, 1e-12, 0.0}) {
    for (double value : {5.0, 0.0, 0.1, -0.3, 1e8 + 0.1, 1.7e20, 0.1e300, -0.3e-200}) {
      CAPTURE(eps);
      CAPTURE(value);
      const Evaluation y =
          evaluate(normalizing({7}, eps), {Tensor::full({2, 7}, value), weight, bias});
      for (std::int64_t i = 0; i < 14; ++i) CHECK(y.value.data()[i] == bias.data()[i % 7]);
      for (const Tensor& gradient : y.gradients) CHECK(all_finite(gradient));
    }
  }
  // With xhat = 0 the rule is dx = (g - <g>) / sqrt(eps).
  const Evaluation y =
      evaluate(normalizing({4}, 1e-4), {Tensor::full({4}, 5.0)}, Tensor({4}, {1, 2, 3, 6}));
  CHECK(relative_error(y.gradients[0], Tensor({4}, {-200, -100, 0, 300})) <= 1e-15);
}

TEST_CASE("layer_norm: rows whose squares overflow or underflow are normalized like others") {
  for (double eps : {1e-5, 0.0}) {
    const Evaluation large = plain(Tensor({3}, {3e200, -4e200, 1e200}), eps);
    const double root = std::sqrt(26.0 / 3.0);
    const Tensor expected({3}, {3 / root, -4 / root, 1 / root});
    CHECK(relative_error(large.value, expected) <= 1e-15);
    CHECK(all_finite(large.gradients[0]));
  }
  const Evaluation ordinary = plain(Tensor({3}, {3, -4, 1}), 0.0);
  for (double unit : {1e200, 1e-200, 1e300, 1e-290}) {
    CAPTURE(unit);
    const Evaluation y = plain(Tensor({3}, {3 * unit, -4 * unit, 1 * unit}), 0.0);
    CHECK(relative_error(y.value, ordinary.value) <= 1e-14);
    Tensor in_units = y.gradients[0];
    for (double& g : in_units.mutable_values()) g *= unit;
    CHECK(relative_error(in_units, ordinary.gradients[0]) <= 1e-14);
  }
  // A spread far below eps is nothing.
  CHECK(norm(plain(Tensor({3}, {3e-200, -4e-200, 1e-200})).value) <= 2e-197);
}

TEST_CASE("layer_norm: a mean that no double holds is subtracted all the same") {
  const double ulp = 0x1p-52, third = std::sqrt(2.0);
  struct Exact {
    Tensor x, y;
  };
  const Exact cases[] = {
      {Tensor({2}, {1e16, 1e16 + 2}), Tensor({2}, {-1, 1})},
      {Tensor({2}, {1, 1 + ulp}), Tensor({2}, {-1, 1})},
      {Tensor({2}, {-1e16, -1e16 - 2}), Tensor({2}, {1, -1})},
      {Tensor({3}, {1e15, 1e15 + 1, 1e15 + 1}), Tensor({3}, {-third, third / 2, third / 2})}};
  for (const Exact& c : cases) {
    CAPTURE(c.x.str());
    CHECK(relative_error(plain(c.x, 0.0).value, c.y) <= 1e-15);
  }
  // Two elements: y is (-1, 1) for every row, so dx is 0.
  for (const Tensor& x : {cases[0].x, cases[1].x}) {
    const Evaluation y = evaluate(normalizing({2}, 0.0), {x}, Tensor({2}, {1, 0.5}));
    CHECK(norm(y.gradients[0]) == 0.0);
  }
}

TEST_CASE("layer_norm: an offset of 1e8 costs no digits of the row that is left") {
  // Normal numbers rounded to multiples of 2^-20, so that adding 1e8 rounds nothing.
  Tensor near = random({4, 50});
  for (double& v : near.mutable_values()) v = std::round(v * 0x1p20) * 0x1p-20;
  Tensor far = near;
  for (double& v : far.mutable_values()) v += 1e8;
  const Evaluation expected = plain(near, 0.0), y = plain(far, 0.0);
  CHECK(relative_error(y.value, expected.value) <= 1e-14);
  CHECK(relative_error(y.gradients[0], expected.gradients[0]) <= 1e-14);
}

TEST_CASE("layer_norm: subnormal rows are normalized like others") {
  const double root = std::sqrt(1.5);
  const Tensor thirds({3}, {-root, 0, root});
  CHECK(relative_error(plain(Tensor({2}, {1e-310, -1e-310}), 0.0).value, Tensor({2}, {1, -1})) ==
        0.0);
  CHECK(relative_error(plain(Tensor({2}, {0, 5e-324}), 0.0).value, Tensor({2}, {-1, 1})) == 0.0);
  CHECK(relative_error(plain(Tensor({3}, {3e-309, 6e-309, 9e-309}), 0.0).value, thirds) <= 1e-14);
  CHECK(relative_error(plain(Tensor({2}, {1e-310, -1e-310}), 1e-300).value,
                       Tensor({2}, {1e-160, -1e-160})) <= 1e-13);
  const Evaluation y =
      evaluate(normalizing({2}, 0.0), {Tensor({2}, {1e-310, -1e-310})}, Tensor({2}, {1, 0.5}));
  CHECK(norm(y.gradients[0]) == 0.0);
  // dx = (g - <g> - y <g y>) / std of a row in units of 1e-305 is that of the row, over the unit.
  const Tensor row({4}, {3, -4, 1, 2}), dy({4}, {1, 2, -1, 3});
  const Tensor small({4}, {3e-305, -4e-305, 1e-305, 2e-305});
  Tensor in_units = evaluate(normalizing({4}, 0.0), {small}, dy).gradients[0];
  for (double& g : in_units.mutable_values()) g *= 1e-305;
  CHECK(relative_error(in_units, evaluate(normalizing({4}, 0.0), {row}, dy).gradients[0]) <= 1e-14);
}

TEST_CASE("layer_norm: long rows and many rows are summed without a growing error") {
  // Half the row is 0.1 and half is 0.3: the mean is 0.2 and y is -1 and 1.
  Tensor x = Tensor::full({1000000}, 0.1);
  for (std::int64_t i = 500000; i < 1000000; ++i) x.mutable_data()[i] = 0.3;
  const Tensor y = plain(x, 0.0).value;
  CHECK(std::abs(y.at({0}) + 1.0) <= 1e-15);
  CHECK(std::abs(y.at({999999}) - 1.0) <= 1e-15);
  const std::int64_t rows = 100000;
  Tensor many = Tensor::uninitialized({rows, 2});
  for (std::int64_t i = 0; i < rows; ++i) {
    many.mutable_data()[2 * i] = -1.0;
    many.mutable_data()[2 * i + 1] = 1.0;
  }
  const Evaluation sums =
      evaluate(normalizing({2}, 0.0), {many, Tensor::ones({2}), Tensor::zeros({2})},
               Tensor::full({rows, 2}, 0.1));
  const double expected = 0.1 * static_cast<double>(rows);
  CHECK(std::abs(sums.gradients[1].at({1}) / expected - 1.0) <= 4e-16);
  CHECK(std::abs(sums.gradients[1].at({0}) / expected + 1.0) <= 4e-16);
  CHECK(std::abs(sums.gradients[2].at({0}) / expected - 1.0) <= 4e-16);
}

TEST_CASE("layer_norm: rows of zeros are zeros at eps 0, not 0 / 0, and a wrong eps is refused") {
  const Evaluation y = plain(Tensor::zeros({2, 3}), 0.0);
  CHECK(relative_error(y.value, Tensor::zeros({2, 3})) == 0.0);
  CHECK(all_finite(y.gradients[0]));
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3}));
  for (double eps : {-1.0, kNan, std::numeric_limits<double>::infinity()}) {
    check_refused([&] { layer_norm(x, {3}, std::nullopt, std::nullopt, eps); },
                  "[layer_norm] eps: must be a finite number of at least 0, got");
  }
}

TEST_CASE("layer_norm: which axes share statistics is what normalized_shape says") {
  const Tensor x = random({2, 3, 4});
  Tensor changed = x;
  for (std::int64_t i = 0; i < 4; ++i) changed.mutable_data()[8 + i] += static_cast<double>(i);
  const auto token_0 = [](const Tensor& input, const Shape& shape) {
    const Tensor y = evaluate(normalizing(shape), {input}).value;
    return Tensor({4}, y.values().first(4));
  };
  CHECK(relative_error(token_0(changed, {4}), token_0(x, {4})) == 0.0);
  CHECK(relative_error(token_0(changed, {3, 4}), token_0(x, {3, 4})) > 1e-3);
}

TEST_CASE("layer_norm: a channels-first map is refused with a hint where it can be told") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({1, 4, 3, 5}));
  check_refused([&] { layer_norm(x, {4}); },
                "[layer_norm] x: must end in the normalized shape (4,) (axis 1 fits: a "
                "channels-first map has to be permuted to channels-last first), got (1, 4, 3, 5)");
  // The documented trap: an op that knows no layout normalizes over W where W equals C.
  CHECK(layer_norm(tape.variable(random({1, 4, 3, 4})), {4}).shape().str() == "(1, 4, 3, 4)");
}

TEST_CASE("layer_norm: arguments that do not fit are refused") {
  Tape tape;
  const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
  check_refused(
      [&] {
        layer_norm(zeros({2, 3}), {});
      },
      "[layer_norm] normalized_shape: must name at least one axis, got ()");
  check_refused(
      [&] {
        layer_norm(zeros({2, 3}), {4});
      },
      "[layer_norm] x: must end in the normalized shape (4,), got (2, 3)");
  check_refused(
      [&] {
        layer_norm(zeros({3}), {2, 3});
      },
      "[layer_norm] x: must end in the normalized shape (2, 3), got (3,)");
  check_refused(
      [&] {
        layer_norm(zeros({2, 0}), {0});
      },
      "[layer_norm] normalized_shape: must hold at least one element, got (0,)");
  check_refused(
      [&] {
        layer_norm(zeros({2, 3}), {3}, zeros({2}));
      },
      "[layer_norm] weight: must have shape (3,), got (2,)");
  check_refused(
      [&] {
        layer_norm(zeros({2, 3}), {3}, std::nullopt, zeros({3, 1}));
      },
      "[layer_norm] bias: must have shape (3,), got (3, 1)");
}

TEST_CASE("layer_norm: inputs without elements give zero parameter gradients") {
  check_empty(normalizing({8}), {Tensor::zeros({0, 5, 8}), Tensor::ones({8}), Tensor::ones({8})},
              {0, 5, 8});
  check_empty(normalizing({5, 8}),
              {Tensor::zeros({0, 5, 8}), Tensor::ones({5, 8}), Tensor::ones({5, 8})}, {0, 5, 8});
}

TEST_CASE("layer_norm: NaN fills its own row and no other") {
  const Evaluation y = plain(Tensor({2, 3}, {1, kNan, 2, 1, 2, 4}));
  for (std::int64_t j = 0; j < 3; ++j) {
    CHECK(std::isnan(y.value.at({0, j})));
    CHECK(std::isfinite(y.value.at({1, j})));
    CHECK(std::isfinite(y.gradients[0].at({1, j})));
  }
}
