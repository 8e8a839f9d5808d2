// The page of gradient_flow. Tested by tests/experiments/gradient_flow/gradient_flow_test.cpp.
#include "experiments/gradient_flow/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "experiments/lab/training/training_report.hpp"

namespace normlab {

namespace {

std::string label_of(const Flow& flow) {
  return fmt::format("{}, {}", name(flow.placement), warmup_text(flow.warmup));
}

Series line(const std::string& label) { return {label, Series::Kind::band, {}, {}, {}, {}}; }

// number(record) of every flow against the step.
template <typename F>
Figure over_steps(Figure figure, const GradientFlowResult& result, F number) {
  figure.x_label = "step";
  for (const Flow& flow : result.flows) {
    Series series = line(label_of(flow));
    for (const FlowRecord& record : flow.records) {
      series.x.push_back(static_cast<double>(record.step));
      series.y.push_back(number(record));
    }
    series.low = series.high = series.y;
    if (!series.x.empty()) figure.series.push_back(series);
  }
  return figure;
}

// The gradient over blocks, at the first look and at the first one after the warmup.
Figure profile(const GradientFlowResult& result) {
  Figure figure{"flow_profile",
                "Gradient over blocks, before and after the warmup",
                "block",
                "norm of the gradient of W2",
                false,
                true,
                {},
                "Lines of the gradient against the block, before the first step and after the "
                "warmup.",
                "Norm of the gradient of W2 in each block: before the first step, and at the first "
                "look after the warmup."};
  for (const Flow& flow : result.flows) {
    if (flow.warmup == 0) continue;
    for (const FlowRecord& record : flow.records) {
      const bool after = record.step >= flow.warmup;
      if (record.step != 0 && !after) continue;
      Series series = line(fmt::format("{}, step {}", name(flow.placement), record.step));
      for (std::size_t block = 0; block < record.w2_grad_norm.size(); ++block) {
        series.x.push_back(static_cast<double>(block + 1));
        series.y.push_back(record.w2_grad_norm[block]);
      }
      series.low = series.high = series.y;
      figure.series.push_back(series);
      if (after) break;
    }
  }
  return figure;
}

Table table_of(const Flow& flow) {
  Table table{label_of(flow),
              {"step", "rate", "loss", "gradient, first", "gradient, last", "update, first",
               "update, last", "stream, last"},
              {}};
  for (const FlowRecord& r : flow.records) {
    table.rows.push_back(
        {std::to_string(r.step), fmt::format("{:.3g}", r.rate), fmt::format("{:.4g}", r.loss),
         fmt::format("{:.3g}", r.w2_grad_norm.front()),
         fmt::format("{:.3g}", r.w2_grad_norm.back()),
         fmt::format("{:.3g}", r.w2_update_ratio.front()),
         fmt::format("{:.3g}", r.w2_update_ratio.back()), fmt::format("{:.3g}", r.stream.back())});
  }
  return table;
}

}  // namespace

Report report_of(const GradientFlowResult& result, const std::string& command) {
  const GradientFlowOptions& options = result.options;
  Report report{"Gradients, updates and stream while a transformer trains",
                command,
                {{"normlab", NORMLAB_VERSION},
                 {"data", "digits"},
                 {"norm", options.norm},
                 {"layers", std::to_string(options.layers)},
                 {"width", std::to_string(options.width)},
                 {"optimizer", options.optimizer},
                 {"peak learning rate", fmt::format("{:g}", options.rate)},
                 {"seed", std::to_string(options.seed)}},
                {"A loss that stays at 2.3 is that of guessing: ten digits, alike frequent.",
                 "Where the gradient of the first block falls by orders of magnitude while the "
                 "loss stays, the blocks above it pass on nothing of what it says."},
                {},
                {}};
  const std::string last = fmt::format("block {}", options.layers);
  report.figures = {
      over_steps({"flow_loss",
                  "Loss",
                  "",
                  "loss of the batch",
                  false,
                  true,
                  {},
                  "Lines of the loss against the step, one for each placement and warmup.",
                  "Loss of the batch of each step."},
                 result, [](const FlowRecord& r) { return r.loss; }),
      over_steps(
          {"flow_gradient",
           "Gradient of the first block",
           "",
           "norm of the gradient of W2",
           false,
           true,
           {},
           "Lines of the gradient's norm against the step, one for each placement and warmup.",
           "Norm of the gradient of W2 in block 1."},
          result, [](const FlowRecord& r) { return r.w2_grad_norm.front(); }),
      over_steps({"flow_update",
                  "Update of the first block",
                  "",
                  "change / weight",
                  false,
                  true,
                  {},
                  "Lines of the relative change of W2 against the step.",
                  "Norm of the change of W2 by one update, over the norm of W2, in block 1."},
                 result, [](const FlowRecord& r) { return r.w2_update_ratio.front(); }),
      over_steps({"flow_stream",
                  "Stream into the last block",
                  "",
                  "mean square",
                  false,
                  true,
                  {},
                  "Lines of the stream's size against the step: level in post-norm, growing in "
                  "pre-norm.",
                  "Mean |x|^2 / d of the tokens that enter " + last + ", over 32 test images."},
                 result, [](const FlowRecord& r) { return r.stream.back(); })};
  Figure profiles = profile(result);
  if (!profiles.series.empty()) report.figures.push_back(std::move(profiles));
  for (const Flow& each : result.flows) {
    report.tables.push_back(table_of(each));
    if (each.diverged) {
      report.look_for.push_back(fmt::format("{} diverged at step {}: {}", label_of(each),
                                            each.diverged->step, each.diverged->origin));
    }
  }
  return report;
}

}  // namespace normlab
