// Tested by tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/lab/training/training_results.hpp"

#include <fmt/format.h>

#include "experiments/lab/program/program.hpp"
#include "experiments/lab/training/training_json.hpp"

namespace normlab {

namespace {

Series over_epochs(const TrainingResult& result, const std::string& name,
                   double EpochRecord::*value, double factor = 1.0) {
  Series series{.name = name, .kind = Series::Kind::band};
  for (const EpochRecord& record : result.epochs) {
    const double y = factor * record.*value;
    series.add(static_cast<double>(record.epoch), Spread{y, y, y});
  }
  return series;
}

std::vector<Figure> figures(const TrainingResult& result, const std::string& thing) {
  if (result.epochs.empty()) return {};
  return {
      {.name = "loss",
       .title = "Loss",
       .x_label = "epoch",
       .y_label = "cross-entropy",
       .log_y = true,
       .series = {over_epochs(result, "training", &EpochRecord::train_loss),
                  over_epochs(result, "test", &EpochRecord::test_loss)},
       .alt = fmt::format("Two lines: the loss on training and on test {}s, against the epoch.",
                          thing),
       .caption = fmt::format("Mean cross-entropy: on the training {0}s over the epoch, with the "
                              "dropout and label smoothing of the run; on the test {0}s after it, "
                              "without.",
                              thing)},
      {.name = "accuracy",
       .title = "Accuracy",
       .x_label = "epoch",
       .y_label = "right, in percent",
       .series = {over_epochs(result, "training", &EpochRecord::train_accuracy, 100.0),
                  over_epochs(result, "test", &EpochRecord::test_accuracy, 100.0)},
       .alt = fmt::format("Two lines: the share of {}s that are right, against the epoch.", thing),
       .caption = fmt::format("Share of {}s that are right, measured as the losses are.", thing)},
      {.name = "gradient",
       .title = "Gradient norm",
       .x_label = "epoch",
       .y_label = "norm of the gradient",
       .log_y = true,
       .series = {over_epochs(result, "all parameters", &EpochRecord::grad_norm)},
       .alt = "A line: the mean norm of the gradient against the epoch.",
       .caption = "Norm of the gradient of all parameters before clipping, mean over the epoch."}};
}

lab::Table epochs_table(const TrainingResult& result) {
  lab::Table table{.key = "epochs", .title = "Every epoch", .columns = epoch_columns()};
  for (const EpochRecord& record : result.epochs) table.rows.push_back(epoch_cells(record));
  if (table.rows.empty()) table.shown = lab::Shown::in_json;
  return table;
}

lab::Table outcome_table(const TrainingResult& result) {
  lab::Table table{.key = "outcome",
                   .title = "",
                   .columns = divergence_columns(),
                   .rows = {divergence_cells(result.diverged)},
                   .shown = lab::Shown::in_json};
  table.columns.push_back({.key = "test_accuracy", .title = ""});
  table.rows[0].push_back(result.diverged ? lab::Cell() : result.epochs.back().test_accuracy);
  return table;
}

lab::Table outcome_line(const TrainingResult& result) {
  const std::string line =
      result.diverged
          ? divergence_text(*result.diverged)
          : fmt::format("test accuracy {:.2f} %", 100.0 * result.epochs.back().test_accuracy);
  return {.key = "outcome",
          .title = "",
          .columns = {{"outcome", "outcome"}},
          .rows = {{line}},
          .shown = lab::Shown::in_text};
}

}  // namespace

std::string training_text(const TrainingOptions& options) {
  return fmt::format("{} with peak rate {:g} ({}, warmup {}), seed {}", options.optimizer,
                     options.lr, options.schedule, options.warmup, options.seed);
}

std::string warmup_text(std::int64_t warmup) {
  return warmup == 0 ? "no warmup" : fmt::format("warmup {}", warmup);
}

std::string counted(std::int64_t count, const std::string& thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string divergence_text(const Divergence& divergence) {
  return fmt::format("diverged at step {}: loss {:g}, gradient norm {:g}", divergence.step,
                     divergence.loss, divergence.grad_norm);
}

void add_training(lab::Results& results, const TrainingResult& result, const std::string& thing) {
  results.tables.push_back(epochs_table(result));
  results.tables.push_back(outcome_table(result));
  results.tables.push_back(outcome_line(result));
  for (Figure& figure : figures(result, thing)) results.figures.push_back(std::move(figure));
  if (result.diverged) {
    results.look_for.push_back(fmt::format("The run diverged at step {}: {}", result.diverged->step,
                                           result.diverged->origin));
    results.exit_code = lab::kDiverged;
    results.exit_message =
        fmt::format("diverged at step {}: {}", result.diverged->step, result.diverged->origin);
  } else {
    results.look_for.push_back(
        fmt::format("Where the share of training {0}s that are right goes on rising and that of "
                    "test {0}s does not, the model memorizes the training set.",
                    thing));
  }
}

}  // namespace normlab
