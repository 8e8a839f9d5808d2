// Heat maps and learning curves. Tested by tests/experiments/warmup/warmup_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/lab/training/training_results.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab::warmup {

namespace {

// What one heat map, or one panel, is about.
struct Part {
  std::string task;
  std::int64_t layers;
  std::string optimizer;

  bool has(const Configuration& c) const {
    return c.task == task && c.layers == layers && c.optimizer == optimizer;
  }
  std::string name(const std::string& start) const {
    return fmt::format("{}_{}_{}_{}", start, task, layers, optimizer);
  }
  std::string title() const {
    return fmt::format("{}, {}, {}", task, counted(layers, "layer"), optimizer);
  }
};

HeatMap::Cell cell_of(const Group& group) {
  if (group.diverged * 2 > group.runs) return {.text = "div"};
  const double percent = 100.0 * group.accuracy.median;
  if (group.failed()) return {.text = "stuck"};
  return {percent, fmt::format("{:.0f}{}", percent, group.stuck + group.diverged > 0 ? "*" : "")};
}

// Final accuracy over rate and warmup, of one placement.
HeatMap heat_map(const Options& options, const std::vector<Group>& groups, const Part& part,
                 Placement placement) {
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
  for (const Group& group : groups) {
    if (!part.has(group.configuration) || group.configuration.placement != placement) continue;
    const auto row = std::find(warmups.begin(), warmups.end(), group.configuration.warmup);
    const auto column = std::find(rates.begin(), rates.end(), group.configuration.rate);
    map.cells[static_cast<std::size_t>(row - warmups.begin())]
             [static_cast<std::size_t>(column - rates.begin())] = cell_of(group);
  }
  map.low = 0.0;
  map.high = 100.0;
  map.scale = "test accuracy, percent";
  map.alt =
      fmt::format("A grid of accuracies of {} over learning rate and warmup.", title(placement));
  map.caption =
      "Test accuracy at the end, median over seeds. stuck: most runs stay at the chance-level "
      "loss; "
      "div: most diverged; *: some of them did.";
  return map;
}

// Learning curves: a plot for each placement and warmup, a line for each rate and seed.
Panel panel(const Measured& measured, const Part& part) {
  Panel panel;
  panel.name = part.name("warmup_curves");
  panel.title = "Learning curves: " + part.title();
  panel.x_label = "step";
  panel.y_label = "training loss";
  panel.log_y = true;
  panel.alt =
      "Small plots of the training loss against the step, one for each placement and warmup.";
  panel.caption = fmt::format(
      "Mean training loss of {} steps each; a line for each seed. The chance-level loss, that of "
      "ignoring the input, is {:.2f}.",
      kCurveSteps,
      std::find_if(measured.points.begin(), measured.points.end(), [&](const Point& point) {
        return part.has(point.configuration);
      })->chance_loss);
  for (const Placement placement : measured.options.placements) {
    for (const std::int64_t warmup : measured.options.warmups) {
      Panel::Plot plot{fmt::format("{}, {}", title(placement), warmup_text(warmup)), {}};
      for (const Point& point : measured.points) {
        if (!part.has(point.configuration) || point.configuration.placement != placement ||
            point.configuration.warmup != warmup) {
          continue;
        }
        Series series{.name = fmt::format("rate {:g}", point.configuration.rate),
                      .kind = Series::Kind::line};
        for (std::size_t i = 0; i < point.curve.size(); ++i) {
          series.add(static_cast<double>((static_cast<std::int64_t>(i) + 1) * kCurveSteps),
                     point.curve[i]);
        }
        if (!series.x.empty()) plot.series.push_back(std::move(series));
      }
      panel.plots.push_back(std::move(plot));
    }
  }
  return panel;
}

// Calls f(part) for every task, depth and optimizer.
template <typename F>
void for_each_part(const Options& options, F f) {
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      for (const std::string& optimizer : options.optimizers) f(Part{task, layers, optimizer});
    }
  }
}

}  // namespace

std::vector<HeatMap> heat_maps(const Options& options, const std::vector<Group>& groups) {
  std::vector<HeatMap> maps;
  for_each_part(options, [&](const Part& part) {
    for (const Placement placement : options.placements) {
      maps.push_back(heat_map(options, groups, part, placement));
    }
  });
  return maps;
}

std::vector<Panel> panels(const Measured& measured) {
  std::vector<Panel> panels;
  for_each_part(measured.options, [&](const Part& part) {
    Panel curves = panel(measured, part);
    const auto is_empty = [](const Panel::Plot& plot) { return plot.series.empty(); };
    if (!std::all_of(curves.plots.begin(), curves.plots.end(), is_empty)) {
      panels.push_back(std::move(curves));
    }
  });
  return panels;
}

}  // namespace normlab::warmup
