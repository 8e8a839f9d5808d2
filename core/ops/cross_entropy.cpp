// With p = softmax(logits) of a row, target t, class weights w, smoothing s and C classes, the row
// is compared with the distribution  q_c = w_c ((1 - s) [c = t] + s / C):
//   loss = -sum_c q_c ln p_c            dlogits_c = p_c sum(q) - q_c
// and the mean divides by the sum of w_t over the rows that are not ignored. A row of only
// -infinity has loss infinity (if any q_c is not 0) and gradient 0; softmax.hpp states the rule.
// Tested by tests/core/ops/cross_entropy_test.cpp.
#include "core/ops/cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The target distributions of all rows; q is zero in ignored rows.
struct Targets {
  std::vector<std::int64_t> classes;  // -1: ignored
  Tensor weight;
  double smoothing;
  double total_weight = 0.0;

  double q(std::size_t row, std::int64_t c) const {
    const std::int64_t target = classes[row];
    if (target < 0) return 0.0;
    const double w = weight.data()[c];
    return w * ((c == target ? 1.0 - smoothing : 0.0) +
                smoothing / static_cast<double>(weight.numel()));
  }
};

Targets checked_targets(const Var& logits, std::span<const std::int64_t> targets,
                        const CrossEntropyOptions& options) {
  check(logits.value().rank() >= 1 && logits.value().width() > 0, "cross_entropy", "logits",
        "must have at least one class along the last axis", [&] { return logits.shape().str(); });
  const std::int64_t classes = logits.value().width();
  check(std::ssize(targets) == logits.value().rows(), "cross_entropy", "targets",
        fmt::format("must be one per row of logits {}", logits.shape().str()),
        [&] { return std::to_string(targets.size()); });
  check_probability("cross_entropy", "label_smoothing", options.label_smoothing);
  if (options.weight.defined()) {
    check_shape("cross_entropy", "weight", options.weight.shape(), {classes});
  }
  Targets result{{targets.begin(), targets.end()},
                 options.weight.defined() ? options.weight : Tensor::ones({classes}),
                 options.label_smoothing};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == options.ignore_index) {
      result.classes[i] = -1;
      continue;
    }
    check(
        targets[i] >= 0 && targets[i] < classes, "cross_entropy", "targets",
        fmt::format("must lie in [0, {}) or be the ignore_index {}", classes, options.ignore_index),
        [&] { return fmt::format("{} at position {}", targets[i], i); });
    result.total_weight += result.weight.data()[targets[i]];
  }
  return result;
}

bool is_fully_masked(const double* p, std::int64_t classes) {
  return std::all_of(p, p + classes, [](double v) { return v == 0.0; });  // by softmax_row
}

double row_loss(const Targets& targets, std::size_t row, const double* p, const double* logits,
                std::int64_t classes) {
  // ln p from the distance to the largest logit, since p itself may have underflowed to 0.
  const auto top = std::max_element(p, p + classes) - p;
  const double log_top = std::log(p[top]);
  const bool fully_masked = is_fully_masked(p, classes);
  return row_sum(classes, [&](std::int64_t c) {
    const double q = targets.q(row, c);
    if (q == 0.0) return 0.0;
    // Next to 1, p has lost the digits of 1 - p, of which the loss of the top class consists.
    if (c == top && p[top] > 0.9) return q * log_sum_exp_row(logits, logits[top], classes);
    return fully_masked ? q * kInfinity : q * ((logits[top] - logits[c]) - log_top);
  });
}

}  // namespace

Var cross_entropy(const Var& logits, std::span<const std::int64_t> targets,
                  const CrossEntropyOptions& options) {
  const Targets target = checked_targets(logits, targets, options);
  const std::int64_t rows = logits.value().rows(), classes = logits.value().width();
  Tensor p = Tensor::uninitialized(logits.shape());
  Tensor losses = Tensor::zeros({rows});
  double* p_data = p.mutable_data();
  double* loss = losses.mutable_data();
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = logits.value().data() + i * classes;
    softmax_row(row, p_data + i * classes, classes);
    if (target.classes[static_cast<std::size_t>(i)] < 0) continue;
    loss[i] = row_loss(target, static_cast<std::size_t>(i), p_data + i * classes, row, classes);
  }
  const bool per_row = options.reduction == Reduction::none;
  double factor = 1.0;
  if (options.reduction == Reduction::mean) {
    factor = target.total_weight == 0.0 ? 0.0 : 1.0 / target.total_weight;
  }
  Tensor y = per_row
                 ? losses
                 : Tensor::scalar(factor * row_sum(rows, [&](std::int64_t i) { return loss[i]; }));
  Adjoint dlogits(logits);
  return record("cross_entropy", std::move(y), {logits},
                [dlogits, p, target, factor, per_row, rows, classes](const Tensor& dy) {
                  Tensor g = Tensor::zeros(p.shape());
                  double* to = g.mutable_data();
                  for (std::int64_t i = 0; i < rows; ++i) {
                    const auto row = static_cast<std::size_t>(i);
                    if (target.classes[row] < 0 || is_fully_masked(p.data() + i * classes, classes))
                      continue;
                    const double upstream = factor * dy.data()[per_row ? i : 0];
                    const double q_sum =
                        row_sum(classes, [&](std::int64_t c) { return target.q(row, c); });
                    for (std::int64_t c = 0; c < classes; ++c) {
                      const std::int64_t at = i * classes + c;
                      to[at] = upstream * (p.data()[at] * q_sum - target.q(row, c));
                    }
                  }
                  dlogits += std::move(g);
                });
}

}  // namespace normlab
