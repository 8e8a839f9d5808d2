// The page of train_digits. Tested by tests/experiments/train_digits_test.cpp.
#include "experiments/train_digits_report.hpp"

#include <fmt/format.h>

namespace normlab {

namespace {

Series curve(const TrainDigitsResult& result, const std::string& label, double EpochRecord::*value,
             double factor) {
  Series series{label, Series::Kind::band, {}, {}, {}, {}};
  for (const EpochRecord& each : result.epochs) {
    series.x.push_back(static_cast<double>(each.epoch));
    series.y.push_back(factor * each.*value);
  }
  series.low = series.high = series.y;
  return series;
}

std::vector<Figure> figures_of(const TrainDigitsResult& result) {
  Figure loss{
      "loss",
      "Loss",
      "epoch",
      "cross-entropy",
      false,
      true,
      {},
      "Two falling lines: the loss on training and on test images, against the epoch.",
      "Mean cross-entropy: on the training images over the epoch, with dropout; on the test "
      "images after it, without."};
  loss.series = {curve(result, "training", &EpochRecord::train_loss, 1.0),
                 curve(result, "test", &EpochRecord::test_loss, 1.0)};
  Figure accuracy{"accuracy",
                  "Accuracy",
                  "epoch",
                  "right, in percent",
                  false,
                  false,
                  {},
                  "Two rising lines: the share of images that are classified rightly.",
                  "Share of images classified rightly, measured as the losses are."};
  accuracy.series = {curve(result, "training", &EpochRecord::train_accuracy, 100.0),
                     curve(result, "test", &EpochRecord::test_accuracy, 100.0)};
  Figure gradient{"gradient",
                  "Gradient norm",
                  "epoch",
                  "norm of the gradient",
                  false,
                  true,
                  {},
                  "A line: the mean norm of the gradient against the epoch.",
                  "Norm of the gradient of all parameters before clipping, mean over the epoch."};
  gradient.series = {curve(result, "all parameters", &EpochRecord::grad_norm, 1.0)};
  return {loss, accuracy, gradient};
}

std::vector<std::pair<std::string, std::string>> configuration_of(
    const TrainDigitsOptions& options) {
  return {{"normlab", NORMLAB_VERSION},
          {"norm", options.norm},
          {"placement", name(options.placement)},
          {"layers", std::to_string(options.layers)},
          {"width", std::to_string(options.width)},
          {"dropout", fmt::format("{:g}", options.dropout)},
          {"optimizer", options.optimizer},
          {"peak learning rate", fmt::format("{:g}", options.lr)},
          {"schedule", fmt::format("{}, warmup {}", name(options.schedule), options.warmup)},
          {"epochs", std::to_string(options.epochs)},
          {"batch size", std::to_string(options.batch_size)},
          {"clipping", options.clip > 0.0 ? fmt::format("norm {:g}", options.clip) : "none"},
          {"seed", std::to_string(options.seed)}};
}

}  // namespace

Report report_of(const TrainDigitsResult& result, const std::string& command) {
  Table table{"Every epoch",
              {"epoch", "step", "rate", "train loss", "train accuracy", "gradient norm",
               "test loss", "test accuracy"},
              {}};
  for (const EpochRecord& each : result.epochs) {
    table.rows.push_back({std::to_string(each.epoch), std::to_string(each.step),
                          fmt::format("{:.3e}", each.lr), fmt::format("{:.4f}", each.train_loss),
                          fmt::format("{:.2f} %", 100.0 * each.train_accuracy),
                          fmt::format("{:.3g}", each.grad_norm),
                          fmt::format("{:.4f}", each.test_loss),
                          fmt::format("{:.2f} %", 100.0 * each.test_accuracy)});
  }
  Report report{"A vision transformer trained on digits",
                command,
                configuration_of(result.options),
                {},
                result.epochs.empty() ? std::vector<Figure>{} : figures_of(result),
                {table}};
  if (result.diverged) {
    report.look_for.push_back(fmt::format("The run diverged at step {}: {}", result.diverged->step,
                                          result.diverged->origin));
  } else {
    report.look_for.push_back(
        "The gap between the two losses is what the model learned of the training images alone.");
  }
  return report;
}

}  // namespace normlab
