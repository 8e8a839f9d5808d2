// The tables and figures of gradient_flow. Tested by
// tests/experiments/gradient_flow/gradient_flow_test.cpp.
#include <fmt/format.h>

#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_results.hpp"

namespace normlab::gradient_flow {

namespace {

using lab::Shown;

std::string label(const Run& run) {
  return fmt::format("{}, {}", name(run.placement), warmup_text(run.warmup));
}

// The first block, the one in the middle and the last one, as far as they differ; from 0.
std::vector<std::size_t> shown_blocks(std::int64_t layers) {
  const auto last = static_cast<std::size_t>(layers - 1);
  std::vector<std::size_t> blocks{0};
  for (const std::size_t block : {last / 2, last}) {
    if (block > blocks.back()) blocks.push_back(block);
  }
  return blocks;
}

// A list of numbers, one for each block: all of them in JSON, some of them elsewhere.
struct BlockList {
  const char *key, *title, *format;
  std::vector<double> Snapshot::*list;
  std::vector<std::size_t> blocks;
};

std::vector<BlockList> block_lists(std::int64_t layers) {
  const std::vector<std::size_t> blocks = shown_blocks(layers);
  return {{"w2_grad_norm", "grad", ".2g", &Snapshot::w2_grad_norm, blocks},
          {"w2_update_ratio", "dW/W", ".2g", &Snapshot::w2_update_ratio, blocks},
          {"stream_sq_norm_per_d", "stream", ".3g", &Snapshot::stream, {blocks.back()}}};
}

// The snapshots of a run.
lab::Table snapshots_table(const Run& run, std::int64_t layers) {
  const std::string warmup =
      run.warmup == 0 ? "no warmup" : fmt::format("warmup of {} steps", run.warmup);
  lab::Table table{.key = "snapshots",
                   .title = fmt::format("{}, {}", title(run.placement), warmup),
                   .columns = {{.key = "step", .title = "step"},
                               {.key = "rate", .title = "rate", .format = ".2e"},
                               {.key = "loss", .title = "loss", .format = ".3g"}},
                   .common = {{"placement", name(run.placement)}, {"warmup", run.warmup}}};
  if (run.diverged) table.title += ": " + divergence_text(*run.diverged);
  for (const Snapshot& snapshot : run.snapshots) {
    table.rows.push_back({snapshot.step, snapshot.rate, snapshot.loss});
  }
  for (const BlockList& numbers : block_lists(layers)) {
    table.columns.push_back({.key = numbers.key, .title = "", .shown = Shown::in_json});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      table.rows[i].push_back(run.snapshots[i].*numbers.list);
    }
    for (const std::size_t block : numbers.blocks) {
      table.columns.push_back({.key = "",
                               .title = fmt::format("{} {}", numbers.title, block + 1),
                               .format = numbers.format,
                               .shown = Shown::in_text_and_on_page});
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        table.rows[i].push_back((run.snapshots[i].*numbers.list)[block]);
      }
    }
  }
  return table;
}

// The same with so few rows that they can be read in a terminal, the last one among them.
lab::Table thinned(const lab::Table& table) {
  constexpr std::size_t kMostRows = 11;
  lab::Table few = table;
  few.shown = Shown::in_text;
  few.rows.clear();
  const std::size_t stride = (table.rows.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i % stride == 0 || i + 1 == table.rows.size()) few.rows.push_back(table.rows[i]);
  }
  return few;
}

lab::Table runs_table(const std::vector<Run>& runs) {
  lab::Table table{.key = "runs",
                   .title = "",
                   .columns = {{"placement", "placement"}, {"warmup", "warmup"}},
                   .shown = Shown::in_json};
  for (const lab::Column& column : divergence_columns()) table.columns.push_back(column);
  for (const Run& run : runs) {
    table.rows.push_back({name(run.placement), run.warmup});
    for (const lab::Cell& cell : divergence_cells(run.diverged)) table.rows.back().push_back(cell);
  }
  return table;
}

void add(Series& series, std::int64_t at, double value) {
  series.add(static_cast<double>(at), Spread{value, value, value});
}

// number(snapshot) of every run against the step.
template <typename F>
Figure over_steps(Figure figure, const std::vector<Run>& runs, F number) {
  figure.log_y = true;
  for (const Run& run : runs) {
    Series series{.name = label(run), .kind = Series::Kind::band};
    for (const Snapshot& snapshot : run.snapshots) add(series, snapshot.step, number(snapshot));
    if (!series.x.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

// The gradient over blocks, in the first snapshot and in the first one after the warmup.
Figure profile(const std::vector<Run>& runs) {
  Figure figure{
      .name = "flow_profile",
      .title = "Gradient over blocks, before and after the warmup",
      .x_label = "block",
      .y_label = "norm of the gradient of W2",
      .log_y = true,
      .series = {},
      .alt = "Lines of the gradient against the block, before the first step and after the warmup.",
      .caption =
          "Norm of the gradient of W2 in each block: before the first step, and in the "
          "first snapshot after the warmup."};
  for (const Run& run : runs) {
    if (run.warmup == 0) continue;
    for (const Snapshot& snapshot : run.snapshots) {
      const bool after = snapshot.step >= run.warmup;
      if (snapshot.step != 0 && !after) continue;
      Series series{.name = fmt::format("{}, step {}", name(run.placement), snapshot.step),
                    .kind = Series::Kind::band};
      std::int64_t block = 0;
      for (const double size : snapshot.w2_grad_norm) add(series, ++block, size);
      figure.series.push_back(std::move(series));
      if (after) break;
    }
  }
  return figure;
}

std::vector<Figure> figures(const Measured& measured) {
  const std::vector<Run>& runs = measured.runs;
  std::vector<Figure> all{
      over_steps({.name = "flow_loss",
                  .title = "Loss",
                  .x_label = "step",
                  .y_label = "loss of the batch",
                  .series = {},
                  .alt = "Lines of the loss against the step, one for each placement and warmup.",
                  .caption = "Loss of the batch of each step."},
                 runs, [](const Snapshot& s) { return s.loss; }),
      over_steps({.name = "flow_gradient",
                  .title = "Gradient of the first block",
                  .x_label = "step",
                  .y_label = "norm of the gradient of W2",
                  .series = {},
                  .alt = "Lines of the gradient's norm against the step, one for each placement "
                         "and warmup.",
                  .caption = "Norm of the gradient of W2 in block 1."},
                 runs, [](const Snapshot& s) { return s.w2_grad_norm.front(); }),
      over_steps({.name = "flow_update",
                  .title = "Update of the first block",
                  .x_label = "step",
                  .y_label = "change / weight",
                  .series = {},
                  .alt = "Lines of the relative change of W2 against the step.",
                  .caption = "Norm of the change of W2 by one update, over the norm of W2, in "
                             "block 1."},
                 runs, [](const Snapshot& s) { return s.w2_update_ratio.front(); }),
      over_steps({.name = "flow_stream",
                  .title = "Residual stream into the last block",
                  .x_label = "step",
                  .y_label = "mean square",
                  .series = {},
                  .alt = "Lines of the residual stream's size against the step, one for each "
                         "placement and warmup.",
                  .caption = fmt::format("Mean |x|^2 / d of the tokens that enter block {}, over "
                                         "32 test images.",
                                         measured.options.layers)},
                 runs, [](const Snapshot& s) { return s.stream.back(); })};
  Figure profiles = profile(runs);
  if (!profiles.series.empty()) all.push_back(std::move(profiles));
  return all;
}

}  // namespace

lab::Results results(const Measured& measured) {
  const Options& options = measured.options;
  lab::Results results{
      .title = "Gradients, updates and residual stream while a transformer trains",
      .heading = fmt::format(
          "digits, {} of width {}, {}\n"
          "{} with peak rate {:g}, seed {}\n"
          "  grad: ||dLoss/dW2||, by block   dW/W: ||change of W2|| / ||W2||, by block\n"
          "  stream: mean |x|^2/d of what enters the block",
          counted(options.layers, "layer"), options.width, options.norm, options.optimizer,
          options.lr, options.seed),
      .look_for = {"A loss that stays at 2.3 is that of guessing among ten digits, which are "
                   "about equally frequent.",
                   "Where the gradient of the first block falls by orders of magnitude while the "
                   "loss stays, almost none of it passes through the blocks above."},
      .tables = {runs_table(measured.runs)},
      .figures = figures(measured)};
  for (const Run& run : measured.runs) {
    lab::Table table = snapshots_table(run, options.layers);
    results.tables.push_back(thinned(table));
    table.shown = Shown::on_page_and_in_json;
    results.tables.push_back(std::move(table));
    if (run.diverged) {
      results.look_for.push_back(fmt::format("{} diverged at step {}: {}", label(run),
                                             run.diverged->step, run.diverged->origin));
    }
  }
  return results;
}

}  // namespace normlab::gradient_flow
