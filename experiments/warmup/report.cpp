// The page of warmup. Tested by tests/experiments/warmup/warmup_test.cpp.
#include "experiments/warmup/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/training/training_report.hpp"

namespace normlab {

namespace {

// What one heat map, or one panel, is about.
struct Part {
  std::string task;
  std::int64_t layers;
  std::string optimizer;

  bool has(const WarmupCell& cell) const {
    return cell.task == task && cell.layers == layers && cell.optimizer == optimizer;
  }
  std::string name(const std::string& start) const {
    return fmt::format("{}_{}_{}_{}", start, task, layers, optimizer);
  }
  std::string title() const { return fmt::format("{}, {} layers, {}", task, layers, optimizer); }
};

HeatMap::Cell cell_of(const WarmupGroup& group) {
  if (group.diverged * 2 > group.runs) return {.text = "div"};
  const double percent = 100.0 * group.accuracy.median;
  if (group.failed()) return {.text = "stuck"};
  return {percent, fmt::format("{:.0f}", percent)};
}

// Final accuracy over rate and warmup, of one placement.
HeatMap heat_map(const WarmupOptions& options, const std::vector<WarmupGroup>& groups,
                 const Part& part, Placement placement) {
  const std::vector<double>& rates = options.rates_of(part.optimizer);
  const std::vector<std::int64_t>& warmups = options.warmups;
  HeatMap map;
  map.name = part.name("warmup_map_" + normlab::name(placement));
  std::replace(map.name.begin(), map.name.end(), '-', '_');
  map.title = fmt::format("{}: {}", title(placement), part.title());
  map.x_label = "peak learning rate";
  map.y_label = "steps of warmup";
  for (const double rate : rates) map.columns.push_back(fmt::format("{:g}", rate));
  for (const std::int64_t warmup : warmups) map.rows.push_back(std::to_string(warmup));
  map.cells.assign(warmups.size(), std::vector<HeatMap::Cell>(rates.size()));
  for (const WarmupGroup& group : groups) {
    if (!part.has(group.cell) || group.cell.placement != placement) continue;
    const auto row = std::find(warmups.begin(), warmups.end(), group.cell.warmup);
    const auto column = std::find(rates.begin(), rates.end(), group.cell.rate);
    map.cells[static_cast<std::size_t>(row - warmups.begin())]
             [static_cast<std::size_t>(column - rates.begin())] = cell_of(group);
  }
  map.low = 0.0;
  map.high = 100.0;
  map.scale = "test accuracy, percent";
  map.alt =
      fmt::format("A grid of accuracies of {} over learning rate and warmup.", title(placement));
  map.caption =
      "Test accuracy at the end, median over seeds. stuck: most runs know no more than how "
      "frequent the labels are; div: most diverged.";
  return map;
}

// Learning curves: a plot for each placement and warmup, a line for each rate and seed.
Panel panel(const WarmupResult& result, const Part& part) {
  Panel panel;
  panel.name = part.name("warmup_curves");
  panel.title = "Learning curves: " + part.title();
  panel.x_label = "step";
  panel.y_label = "training loss";
  panel.log_y = true;
  panel.alt =
      "Small plots of the training loss against the step, one for each placement and warmup.";
  panel.caption = fmt::format(
      "Mean training loss of {} steps each; a line for each seed. Who knows only how frequent the "
      "labels are has {:.2f}.",
      kCurveSteps, std::find_if(result.runs.begin(), result.runs.end(), [&](const WarmupRun& run) {
                     return part.has(run.cell);
                   })->loss_of_frequencies);
  for (const Placement placement : result.options.placements) {
    for (const std::int64_t warmup : result.options.warmups) {
      Panel::Plot plot{fmt::format("{}, {}", title(placement), warmup_text(warmup)), {}};
      for (const WarmupRun& run : result.runs) {
        if (!part.has(run.cell) || run.cell.placement != placement || run.cell.warmup != warmup) {
          continue;
        }
        Series series{fmt::format("rate {:g}", run.cell.rate), Series::Kind::line, {}, {}};
        for (std::size_t i = 0; i < run.curve.size(); ++i) {
          series.x.push_back(static_cast<double>((static_cast<std::int64_t>(i) + 1) * kCurveSteps));
          series.y.push_back(run.curve[i]);
        }
        if (!series.x.empty()) plot.series.push_back(std::move(series));
      }
      panel.plots.push_back(std::move(plot));
    }
  }
  return panel;
}

Table table_of(const std::vector<WarmupGroup>& groups) {
  Table table{"Every group of seeds",
              {"task", "layers", "placement", "optimizer", "warmup", "rate", "accuracy", "stuck",
               "diverged"},
              {}};
  for (const WarmupGroup& each : groups) {
    const WarmupCell& cell = each.cell;
    table.rows.push_back(
        {cell.task, std::to_string(cell.layers), name(cell.placement), cell.optimizer,
         std::to_string(cell.warmup), fmt::format("{:g}", cell.rate),
         fmt::format("{:.1f} [{:.1f}, {:.1f}] %", 100.0 * each.accuracy.median,
                     100.0 * each.accuracy.smallest, 100.0 * each.accuracy.largest),
         fmt::format("{} of {}", each.stuck, each.runs),
         fmt::format("{} of {}", each.diverged, each.runs)});
  }
  return table;
}

}  // namespace

Report report_of(const WarmupResult& result, const std::string& command) {
  const WarmupOptions& options = result.options;
  const std::vector<WarmupGroup> groups = result.groups();
  Report report{"Which transformers need a learning-rate warmup",
                command,
                {{"normlab", NORMLAB_VERSION},
                 {"width", std::to_string(options.width)},
                 {"epochs", std::to_string(options.epochs)},
                 {"batch size", std::to_string(options.batch_size)},
                 {"seeds", fmt::format("{}", fmt::join(options.seeds, ", "))}},
                {"Read a heat map from top to bottom: what a longer warmup does at one rate.",
                 "A curve that stays at one level belongs to a network that learned "
                 "nothing of its input."},
                {},
                {table_of(groups)}};
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      for (const std::string& optimizer : options.optimizers) {
        const Part part{task, layers, optimizer};
        for (const Placement placement : options.placements) {
          report.heat_maps.push_back(heat_map(options, groups, part, placement));
        }
        Panel curves = panel(result, part);
        const auto is_empty = [](const Panel::Plot& plot) { return plot.series.empty(); };
        if (!std::all_of(curves.plots.begin(), curves.plots.end(), is_empty)) {
          report.panels.push_back(std::move(curves));
        }
      }
    }
  }
  return report;
}

}  // namespace normlab
