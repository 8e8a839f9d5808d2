// What training programs print, and their page. Tested by
// tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/lab/training/training_report.hpp"

#include <fmt/format.h>

namespace normlab {

namespace {

Series curve(const TrainingResult& result, const std::string& label, double EpochRecord::*value,
             double factor) {
  Series series{label, Series::Kind::band, {}, {}, {}, {}};
  for (const EpochRecord& each : result.epochs) {
    series.x.push_back(static_cast<double>(each.epoch));
    series.y.push_back(factor * each.*value);
  }
  series.low = series.high = series.y;
  return series;
}

std::vector<Figure> figures_of(const TrainingResult& result, const std::string& thing) {
  Figure loss{"loss", "Loss", "epoch", "cross-entropy", false, true, {}, {}, {}};
  loss.alt =
      fmt::format("Two lines: the loss on training and on test {}s, against the epoch.", thing);
  loss.caption = fmt::format(
      "Mean cross-entropy: on the training {0}s over the epoch, with what dropout and label "
      "smoothing there are; on the test {0}s after it, without.",
      thing);
  loss.series = {curve(result, "training", &EpochRecord::train_loss, 1.0),
                 curve(result, "test", &EpochRecord::test_loss, 1.0)};
  Figure accuracy{"accuracy", "Accuracy", "epoch", "right, in percent", false, false, {}, {}, {}};
  accuracy.alt =
      fmt::format("Two lines: the share of {}s that are right, against the epoch.", thing);
  accuracy.caption = fmt::format("Share of {}s that are right, measured as the losses are.", thing);
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

}  // namespace

std::string title_of(const TrainingOptions& options) {
  return fmt::format("{} with peak rate {:g} ({}, warmup {}), seed {}", options.optimizer,
                     options.lr, name(options.schedule), options.warmup, options.seed);
}

std::string warmup_text(std::int64_t warmup) {
  return warmup == 0 ? "no warmup" : fmt::format("warmup {}", warmup);
}

std::string text_of(const Divergence& divergence) {
  return fmt::format("diverged at step {}: loss {:g}, gradient norm {:g}\n", divergence.step,
                     divergence.loss, divergence.grad_norm);
}

std::string text_of(const TrainingResult& result) {
  std::string text =
      "epoch   step        rate  train loss  accuracy  gradient  test loss  accuracy\n";
  for (const EpochRecord& each : result.epochs) {
    text += fmt::format(
        "{:>5} {:>6}  {:>10.3e}  {:>10.4f}  {:>6.2f} %  {:>8.3g}  {:>9.4f}  {:>6.2f} %\n",
        each.epoch, each.step, each.lr, each.train_loss, 100.0 * each.train_accuracy,
        each.grad_norm, each.test_loss, 100.0 * each.test_accuracy);
  }
  if (result.diverged) {
    text += text_of(*result.diverged);
  } else if (!result.epochs.empty()) {
    text += fmt::format("test accuracy {:.2f} %\n", 100.0 * result.epochs.back().test_accuracy);
  }
  return text;
}

void add_configuration(std::vector<std::pair<std::string, std::string>>& configuration,
                       const TrainingOptions& options) {
  configuration.insert(
      configuration.end(),
      {{"dropout", fmt::format("{:g}", options.dropout)},
       {"optimizer", options.optimizer},
       {"peak learning rate", fmt::format("{:g}", options.lr)},
       {"schedule", fmt::format("{}, warmup {}", name(options.schedule), options.warmup)},
       {"epochs", std::to_string(options.epochs)},
       {"batch size", std::to_string(options.batch_size)},
       {"clipping", options.clip > 0.0 ? fmt::format("norm {:g}", options.clip) : "none"},
       {"seed", std::to_string(options.seed)}});
}

Report training_report(const std::string& title, const std::string& command,
                       const std::vector<std::pair<std::string, std::string>>& configuration,
                       const TrainingResult& result, const std::string& thing) {
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
  Report report{title,
                command,
                configuration,
                {},
                result.epochs.empty() ? std::vector<Figure>{} : figures_of(result, thing),
                {table}};
  if (result.diverged) {
    report.look_for.push_back(fmt::format("The run diverged at step {}: {}", result.diverged->step,
                                          result.diverged->origin));
  } else {
    report.look_for.push_back(fmt::format(
        "Where the share of training {0}s that are right rises on and that of test {0}s does not, "
        "the model learns the training set by heart.",
        thing));
  }
  return report;
}

}  // namespace normlab
