// Tested by tests/experiments/self_checks_test.cpp.
#include "experiments/self_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/rms_norm.hpp"

namespace normlab {

namespace {

double mean_loss(EncoderModel& model, const Tokens& tokens) {
  double sum = 0.0;
  for_each_slice(tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    sum += model.loss_sum(tape, tokens, 1.0, first, last).value().item();
  });
  return sum / static_cast<double>(tokens.count());
}

void add_mean_loss_gradient(EncoderModel& model, const Tokens& tokens) {
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  for_each_slice(tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    tape.backward(model.loss_sum(tape, tokens, 1.0, first, last), one_token);
  });
}

std::int64_t largest_entry(const Tensor& x) {
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  return std::max_element(x.values().begin(), x.values().end(), smaller) - x.values().begin();
}

// The largest entry of the gradient against a central difference. With some networks a ReLU has its
// kink inside the interval, which no derivative describes; a smaller interval leaves it out, while
// a wrong gradient fails with every one.
FiniteDifferenceCheck check_largest_entry(EncoderModel& model, const Tokens& tokens,
                                          Parameter& weights, FiniteDifferenceCheck check) {
  const std::int64_t entry = largest_entry(weights.grad);
  const double at = weights.value.data()[entry];
  const auto loss_at = [&](double weight) {
    weights.value.mutable_data()[entry] = weight;
    return mean_loss(model, tokens);
  };
  check.analytic = weights.grad.data()[entry];
  for (double step : {1e-6, 1e-7, 1e-8}) {
    check.step = step;
    check.loss = loss_at(at + step);
    check.numerical = (check.loss - loss_at(at - step)) / (2.0 * step);
    if (check.passed()) break;
  }
  weights.value.mutable_data()[entry] = at;
  return check;
}

}  // namespace

double FiniteDifferenceCheck::relative_error() const {
  const double difference = std::abs(analytic - numerical);
  return difference == 0.0 ? 0.0 : difference / std::abs(numerical);
}

bool FiniteDifferenceCheck::passed() const {
  constexpr double kTolerance = 1e-7;
  const double difference = std::abs(analytic - numerical);
  const double rounding = 16.0 * std::numeric_limits<double>::epsilon() * loss / step;
  return difference <= std::max(kTolerance * std::abs(numerical), rounding);
}

std::vector<FiniteDifferenceCheck> check_finite_differences(const EncoderModel::Config& config,
                                                            Placement placement,
                                                            const Tokens& tokens) {
  EncoderModel model(config, kCheckedDepth, placement, 0);
  add_mean_loss_gradient(model, tokens);
  std::vector<FiniteDifferenceCheck> checks;
  for (std::int64_t layer : {std::int64_t{1}, kCheckedDepth}) {
    Parameter& w2 = model.encoder().layers[static_cast<std::size_t>(layer - 1)]->linear2.weight;
    checks.push_back(
        check_largest_entry(model, tokens, w2, {.placement = placement, .layer = layer}));
  }
  return checks;
}

bool NormAgreement::passed() const {
  constexpr double kRounding = 1e-13;
  return centred < kRounding && uncentred > kRounding;
}

NormAgreement check_norm_agreement(const EncoderModel::Config& config, const Tokens& tokens) {
  const EncoderModel model(config, 1, Placement::pre, 0);
  Tape tape;
  const Var x = tape.constant(model.embed(tokens.patches, 1.0));
  const auto difference = [&](const Var& v) {
    constexpr double kEps = 1e-5;
    const Shape row{config.width};
    return max_abs_difference(rms_norm(v, row, std::nullopt, kEps).value(),
                              layer_norm(v, row, std::nullopt, std::nullopt, kEps).value());
  };
  return {difference(x - mean(x, {-1}, true)), difference(x)};
}

}  // namespace normlab
