// Tested by tests/experiments/untrained/self_checks_test.cpp.
#include "experiments/untrained/self_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/rms_norm.hpp"

namespace normlab {

namespace {

double mean_loss(EncoderModel& model, const Tokens& tokens) {
  double sum = 0.0;
  for_each_slice(model.config(), tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    const Tape::NoGrad no_grad(tape);
    sum += model.loss_sum(tape, tokens, 1.0, first, last).value().item();
  });
  return sum / static_cast<double>(tokens.count());
}

void add_mean_loss_gradient(EncoderModel& model, const Tokens& tokens) {
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  for_each_slice(model.config(), tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    tape.backward(model.loss_sum(tape, tokens, 1.0, first, last), one_token);
  });
}

// The places of the largest entries, the largest first.
std::vector<std::int64_t> largest_entries(const Tensor& x, std::int64_t count) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(x.numel()));
  std::iota(places.begin(), places.end(), 0);
  const auto larger = [&](std::int64_t a, std::int64_t b) {
    return std::abs(x.data()[a]) > std::abs(x.data()[b]);
  };
  const auto end = places.begin() + std::min(count, x.numel());
  std::partial_sort(places.begin(), end, places.end(), larger);
  places.erase(end, places.end());
  return places;
}

// One entry of the gradient against a central difference.
void compare(EncoderModel& model, const Tokens& tokens, Parameter& weights, std::int64_t entry,
             FiniteDifferenceCheck& check) {
  const double at = weights.value.data()[entry];
  const auto loss_at = [&](double weight) {
    weights.value.mutable_data()[entry] = weight;
    return mean_loss(model, tokens);
  };
  check.analytic = weights.grad.data()[entry];
  check.loss = loss_at(at + check.step);
  check.numerical = (check.loss - loss_at(at - check.step)) / (2.0 * check.step);
  weights.value.mutable_data()[entry] = at;
}

// The largest entry first. With some networks a ReLU has its kink inside the interval, which no
// derivative describes; a smaller interval or another entry leaves it out, while a wrong gradient
// fails with all of them.
FiniteDifferenceCheck check_layer(EncoderModel& model, const Tokens& tokens, Parameter& weights,
                                  FiniteDifferenceCheck check) {
  constexpr std::int64_t kEntries = 3;
  FiniteDifferenceCheck first;
  bool tried = false;
  for (std::int64_t entry : largest_entries(weights.grad, kEntries)) {
    for (double step : {1e-6, 1e-7}) {
      check.step = step;
      compare(model, tokens, weights, entry, check);
      if (check.passed()) return check;
      if (!tried) first = check;
      tried = true;
    }
  }
  return first;
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
                                                            std::int64_t layers,
                                                            const Tokens& tokens) {
  EncoderModel model(config, layers, placement, 0);
  add_mean_loss_gradient(model, tokens);
  std::vector<FiniteDifferenceCheck> checks;
  for (std::int64_t layer : {std::int64_t{1}, layers}) {
    if (!checks.empty() && checks.back().layer == layer) continue;
    Parameter& w2 = model.encoder().layers[static_cast<std::size_t>(layer - 1)]->linear2.weight;
    checks.push_back(check_layer(model, tokens, w2, {.placement = placement, .layer = layer}));
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
    const Shape row{config.d_model};
    return max_abs_difference(rms_norm(v, row, std::nullopt, kEps).value(),
                              layer_norm(v, row, std::nullopt, std::nullopt, kEps).value());
  };
  return {difference(x - mean(x, {-1}, true)), difference(x)};
}

}  // namespace normlab
