#include "core/ops/dropout.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

// The same elements are dropped in every call.
Function with_p(double p) {
  return [p](const Vars& in) {
    Generator generator(11);
    return dropout(in[0], p, generator);
  };
}

}  // namespace

TEST_CASE(
    "dropout: kept elements are scaled by 1 / (1 - p), not by 1 / p, and the mean is preserved") {
  constexpr std::int64_t kCount = 100000;
  for (double p : {0.1, 0.5, 0.8}) {
    CAPTURE(p);
    const Tensor y = evaluate(with_p(p), {Tensor::ones({kCount})}).value;
    const double kept = 1.0 / (1.0 - p);
    double total = 0.0;
    bool only_two_values = true;
    for (double v : y.values()) {
      total += v;
      only_two_values = only_two_values && (v == 0.0 || std::abs(v - kept) <= 1e-15 * kept);
    }
    CHECK(only_two_values);
    // Five standard deviations of the mean; a scale of 1 / p is off by hundreds.
    CHECK(std::abs(total / kCount - 1.0) < 5.0 * std::sqrt(p / (1.0 - p) / kCount));
  }
}

TEST_CASE("dropout: p = 0.5 scales once by 2 and not twice") {
  const Tensor y = evaluate(with_p(0.5), {Tensor::ones({1000})}).value;
  double largest = 0.0;
  for (double v : y.values()) largest = std::max(largest, v);
  CHECK(largest == 2.0);
}

TEST_CASE("dropout: p = 0 returns x itself and draws nothing and p = 1 gives zeros, not 0 / 0") {
  Tape tape;
  const Var x = tape.variable(random({2, 3}));
  Generator generator(3), untouched(3);
  CHECK(dropout(x, 0.0, generator).node() == x.node());
  CHECK(generator.next32() == untouched.next32());
  const Evaluation none = evaluate(with_p(1.0), {random({2, 3})});
  CHECK(relative_error(none.value, Tensor::zeros({2, 3})) == 0.0);
  CHECK(relative_error(none.gradients[0], Tensor::zeros({2, 3})) == 0.0);
}

TEST_CASE("dropout: gradients agree with differences") {
  for (const Shape& shape : {Shape{7}, Shape{2, 5}, Shape{2, 3, 4}}) {
    CAPTURE(shape.str());
    check_backward(with_p(0.3), {random(shape)});
  }
  check_backward(with_p(0.0), {random({})});
}

TEST_CASE("dropout: equals multiplying by the mask that the generator draws") {
  check_same(
      with_p(0.25),
      [](const Vars& in) {
        Generator generator(11);
        return in[0] * in[0].tape().constant(generator.bernoulli({3, 40}, 0.75)) / 0.75;
      },
      {random({3, 40})}, 1e-15);
}

TEST_CASE("dropout: p outside [0 .. 1] is refused") {
  Tape tape;
  Generator generator;
  const Var x = tape.variable(Tensor::zeros({2}));
  for (double p : {-0.1, 1.1, std::nan("")}) {
    check_refused([&] { dropout(x, p, generator); },
                  "[dropout] p: must be a probability in [0, 1], got");
  }
}

TEST_CASE("dropout: inputs without elements give outputs without elements") {
  for (double p : {0.0, 0.5, 1.0}) check_empty(with_p(p), {Tensor::zeros({0, 5, 8})}, {0, 5, 8});
}
