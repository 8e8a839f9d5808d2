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

constexpr double kStep = 1e-6;

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

}  // namespace

double FiniteDifferenceCheck::relative_error() const {
  return std::abs(analytic - numerical) / std::abs(numerical);
}

bool FiniteDifferenceCheck::passed() const {
  constexpr double kTolerance = 1e-7;
  const double difference = std::abs(analytic - numerical);
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * loss / kStep;
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
    const std::int64_t entry = largest_entry(w2.grad);
    double& weight = w2.value.mutable_data()[entry];
    const double at = weight;
    weight = at + kStep;
    const double above = mean_loss(model, tokens);
    weight = at - kStep;
    const double below = mean_loss(model, tokens);
    weight = at;
    checks.push_back({placement, layer, w2.grad.data()[entry], (above - below) / (2.0 * kStep),
                      std::abs(above)});
  }
  return checks;
}

bool NormAgreement::passed() const {
  constexpr double kRounding = 1e-14;
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
