#include "core/ops/cross_entropy.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/softmax.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Classes = std::vector<std::int64_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Reduction kReductions[] = {Reduction::mean, Reduction::sum, Reduction::none};

Function against(const Classes& targets, const CrossEntropyOptions& options = {}) {
  return [targets, options](const Vars& in) { return cross_entropy(in[0], targets, options); };
}

CrossEntropyOptions options_of(const FixtureCase& fixture) {
  CrossEntropyOptions options;
  const auto reduction = fixture.option<std::string>("reduction");
  options.reduction = reduction == "mean"  ? Reduction::mean
                      : reduction == "sum" ? Reduction::sum
                                           : Reduction::none;
  options.label_smoothing = fixture.option<double>("label_smoothing");
  options.ignore_index = fixture.option<std::int64_t>("ignore_index");
  if (fixture.option<bool>("has_weight")) options.weight = tensor_of(fixture.input("weight"));
  return options;
}

// -sum(q * log_softmax(x)) with the target distribution q laid out as a constant; (rows, classes).
Var composed(const Var& logits, const Classes& targets, const CrossEntropyOptions& options) {
  const std::int64_t classes = logits.value().width();
  Tensor q = Tensor::zeros(logits.shape());
  double total_weight = 0.0;
  for (std::int64_t row = 0; row < q.rows(); ++row) {
    const std::int64_t target = targets[static_cast<std::size_t>(row)];
    if (target == options.ignore_index) continue;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double w = options.weight.defined() ? options.weight.at({c}) : 1.0;
      const double hard = c == target ? 1.0 : 0.0;
      q.mutable_data()[row * classes + c] =
          w * ((1.0 - options.label_smoothing) * hard +
               options.label_smoothing / static_cast<double>(classes));
      if (c == target) total_weight += w;
    }
  }
  const Var losses = -sum(logits.tape().constant(q) * log_softmax(logits), {-1});
  if (options.reduction == Reduction::none) return losses;
  return options.reduction == Reduction::sum ? sum(losses) : sum(losses) / total_weight;
}

}  // namespace

TEST_CASE("cross_entropy: values and gradients equal PyTorch's for every option") {
  for (const FixtureCase& fixture : load_fixture_cases("loss_and_norm_ops.json", "cross_entropy")) {
    const FixtureTensor& target = fixture.input("target");
    check_fixture(fixture, against({target.data.begin(), target.data.end()}, options_of(fixture)));
  }
}

TEST_CASE("cross_entropy: gradients agree with differences and equal the composition") {
  const Classes targets{2, 0, -100, 1, 6, 3};
  for (Reduction reduction : kReductions) {
    for (double smoothing : {0.0, 0.2, 1.0}) {
      for (const Tensor& weight : {Tensor(), random_positive({7}, 4)}) {
        const CrossEntropyOptions options{reduction, smoothing, -100, weight};
        check_backward(against(targets, options), {random({6, 7})});
        check_same(against(targets, options),
                   [&](const Vars& in) { return composed(in[0], targets, options); },
                   {random({6, 7})});
      }
    }
  }
}

TEST_CASE("cross_entropy: rows are those of the last axis whatever the rank") {
  const Tensor logits = random({2, 3, 4});
  const Classes targets{3, 0, 1, 2, 2, 0};
  check_backward(against(targets), {logits});
  const Evaluation flat = evaluate(against(targets), {logits.reshaped({6, 4})});
  const Evaluation deep = evaluate(against(targets), {logits});
  CHECK(flat.value.item() == deep.value.item());
  CHECK(relative_error(deep.gradients[0], flat.gradients[0].reshaped({2, 3, 4})) == 0.0);
  check_backward(against({1}), {random({3})});
  CHECK(evaluate(against(targets, {.reduction = Reduction::none}), {logits}).value.shape().str() ==
        "(6,)");
}

TEST_CASE("cross_entropy: smoothing does not count ignored rows in the mean") {
  const Tensor logits({2, 3}, {2, 0, -1, 0, 3, 1});
  const CrossEntropyOptions options{.label_smoothing = 0.1};
  const Evaluation y = evaluate(against({0, -100}, options), {logits});
  CHECK(std::abs(y.value.item() - 0.33651269) < 5e-9);
  for (std::int64_t j = 0; j < 3; ++j) CHECK(y.gradients[0].at({1, j}) == 0.0);
}

TEST_CASE("cross_entropy: all rows ignored give loss 0 and gradient 0, not 0 / 0") {
  for (Reduction reduction : kReductions) {
    const Evaluation y =
        evaluate(against({-100, -100}, {.reduction = reduction}), {random({2, 3})});
    CHECK(norm(y.value) == 0.0);
    CHECK(relative_error(y.gradients[0], Tensor::zeros({2, 3})) == 0.0);
  }
}

TEST_CASE(
    "cross_entropy: targets that all have weight 0 give mean 0, though a smoothed sum is not") {
  const Tensor logits({2, 3}, {1, 2, 3, 0, 1, 0});
  CrossEntropyOptions options{.label_smoothing = 0.2, .weight = Tensor({3}, {0, 1, 1})};
  const Evaluation y = evaluate(against({0, 0}, options), {logits});
  CHECK(y.value.item() == 0.0);
  CHECK(norm(y.gradients[0]) == 0.0);
  options.reduction = Reduction::sum;
  CHECK(std::abs(evaluate(against({0, 0}, options), {logits}).value.item() - 0.2612) < 5e-5);
}

TEST_CASE("cross_entropy: a row of only minus infinity has infinite loss and no gradient") {
  const Tensor logits({2, 2}, {-kInfinity, -kInfinity, 0, 0});
  for (double smoothing : {0.0, 0.2}) {
    CrossEntropyOptions options{.reduction = Reduction::none, .label_smoothing = smoothing};
    const Evaluation y = evaluate(against({0, 1}, options), {logits}, Tensor({2}, {1, 0}));
    CHECK(y.value.at({0}) == kInfinity);
    CHECK(std::abs(y.value.at({1}) - std::log(2.0)) <= 1e-15);
    CHECK(norm(y.gradients[0]) == 0.0);
    options.ignore_index = 0;
    const Evaluation ignored = evaluate(against({0, 1}, options), {logits}, Tensor({2}, {1, 0}));
    CHECK(ignored.value.at({0}) == 0.0);
    CHECK(norm(ignored.gradients[0]) == 0.0);
  }
}

TEST_CASE("cross_entropy: the loss of a confident row keeps its digits") {
  const auto loss = [](const Tensor& logits) {
    return evaluate(against({0}), {logits}).value.item();
  };
  CHECK(std::abs(loss(Tensor({1, 2}, {40, 0})) / 4.248354255291589e-18 - 1.0) <= 1e-15);
  CHECK(std::abs(loss(Tensor({1, 3}, {9, 0, -1})) / std::log1p(std::exp(-9.0) + std::exp(-10.0)) -
                 1.0) <= 1e-15);
}

TEST_CASE("cross_entropy: a target out of range is refused and named with its position") {
  Tape tape;
  const Var logits = tape.variable(Tensor::zeros({3, 3}));
  check_refused(
      [&] {
        cross_entropy(logits, Classes{0, -1, 3});
      },
      "[cross_entropy] targets: must lie in [0, 3) or be the ignore_index -100, got -1 "
      "at position 1");
  check_refused(
      [&] {
        cross_entropy(logits, Classes{0, 1, 3});
      },
      "[cross_entropy] targets: must lie in [0, 3) or be the ignore_index -100, got 3 "
      "at position 2");
}

TEST_CASE("cross_entropy: the ignore_index may be any integer, not only negative ones") {
  const Tensor logits = random({3, 4});
  for (std::int64_t ignored : {4, 400, -1, -100}) {
    const Evaluation y = evaluate(against({1, ignored, 2}, {.ignore_index = ignored}), {logits});
    const Evaluation usual = evaluate(against({1, -100, 2}), {logits});
    CHECK(y.value.item() == usual.value.item());
    CHECK(relative_error(y.gradients[0], usual.gradients[0]) == 0.0);
  }
}

TEST_CASE("cross_entropy: other arguments that do not fit are refused") {
  Tape tape;
  const Var logits = tape.variable(Tensor::zeros({2, 3}));
  const Classes targets{0, 1};
  check_refused([&] { cross_entropy(logits, Classes{0}); },
                "[cross_entropy] targets: must be one per row of logits (2, 3), got 1");
  check_refused([&] { cross_entropy(logits, targets, {.label_smoothing = 1.5}); },
                "[cross_entropy] label_smoothing: must be a probability in [0, 1], got 1.5");
  check_refused([&] { cross_entropy(logits, targets, {.weight = Tensor::ones({2})}); },
                "[cross_entropy] weight: must have shape (3,), got (2,)");
  check_refused([&] { cross_entropy(tape.variable(Tensor::scalar(1)), Classes{0}); },
                "[cross_entropy] logits: must have at least one class");
  check_refused(
      [&] {
        cross_entropy(tape.variable(Tensor::zeros({2, 0})), targets);
      },
      "[cross_entropy] logits: must have at least one class");
}

TEST_CASE("cross_entropy: large and infinite logits give the loss that their differences say") {
  const Tensor far({2, 3}, {1e4, 0.0, -1e4, 1e200, 1e200, 1e200});
  const Evaluation y = evaluate(against({1, 0}, {.reduction = Reduction::none}), {far});
  CHECK(y.value.at({0}) == 1e4);  // ln p, though p has underflowed to 0
  CHECK(std::abs(y.value.at({1}) - std::log(3.0)) <= 1e-15);
  CHECK(all_finite(y.gradients[0]));
  const Tensor forbidden({1, 3}, {0.0, -kInfinity, 0.0});
  const Evaluation z = evaluate(against({0}), {forbidden}, Tensor::scalar(1.0));
  CHECK(std::abs(z.value.item() - std::log(2.0)) <= 1e-15);
  CHECK(relative_error(z.gradients[0], Tensor({1, 3}, {-0.5, 0.0, 0.5})) <= 1e-15);
}

TEST_CASE("cross_entropy: NaN stays in its row and an ignored row may hold it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor logits({3, 2}, {1, 2, nan, 1, 3, 4});
  const Evaluation y = evaluate(against({0, 1, 1}, {.reduction = Reduction::none}), {logits});
  CHECK(std::isfinite(y.value.at({0})));
  CHECK(std::isnan(y.value.at({1})));
  CHECK(std::isfinite(y.value.at({2})));
  CHECK(std::isnan(y.gradients[0].at({1, 0})));
  CHECK(std::isfinite(y.gradients[0].at({2, 0})));
  const Evaluation ignored = evaluate(against({0, -100, 1}), {logits});
  CHECK(std::isfinite(ignored.value.item()));
  CHECK(all_finite(ignored.gradients[0]));
}

TEST_CASE("cross_entropy: logits without rows give loss 0") {
  check_empty(against({}), {Tensor::zeros({0, 5, 8})}, {});
  check_empty(against({}, {.reduction = Reduction::sum}), {Tensor::zeros({0, 8})}, {});
  check_empty(against({}, {.reduction = Reduction::none}), {Tensor::zeros({0, 8})}, {0});
  CHECK(evaluate(against({}), {Tensor::zeros({0, 8})}).value.item() == 0.0);
}
