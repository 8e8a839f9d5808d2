// The tables of warmup. Tested by tests/experiments/warmup/warmup_test.cpp.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_results.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab::warmup {

namespace {

using lab::Shown;

// "62.5 [60.1, 64.2]", with a star if some failed; or what became of most runs.
std::string text(const Group& group) {
  if (group.failed()) {
    const bool diverged = group.diverged >= group.stuck;
    return fmt::format("{} {}/{}", diverged ? "diverged" : "stuck",
                       diverged ? group.diverged : group.stuck, group.runs);
  }
  return lab::cell_text(group.accuracy, {"", "", ".1%"}) +
         (group.stuck + group.diverged > 0 ? "*" : "");
}

// What the rows of a table in text are called, and a column for each rate.
lab::Table table_over_rates(const std::string& title, const std::vector<std::string>& labels,
                            const std::vector<double>& rates, const std::string& format) {
  lab::Table table{.key = "over_rates", .title = title, .columns = {}, .shown = Shown::in_text};
  for (const std::string& label : labels) table.columns.push_back({"", label});
  for (const double rate : rates) {
    table.columns.push_back({"", fmt::format("rate {:g}", rate), format});
  }
  return table;
}

// The groups of one task and depth, by what else they differ in.
class Groups {
 public:
  Groups(const std::vector<Group>& groups, const std::string& task, std::int64_t layers)
      : groups_(groups), task_(task), layers_(layers) {}

  // Null if the grid has no such group.
  const Group* at(Placement placement, const std::string& optimizer, std::int64_t warmup,
                  double rate) const {
    for (const Group& group : groups_) {
      const Configuration& c = group.configuration;
      if (c.task == task_ && c.layers == layers_ && c.placement == placement &&
          c.optimizer == optimizer && c.warmup == warmup && c.rate == rate) {
        return &group;
      }
    }
    return nullptr;
  }

 private:
  const std::vector<Group>& groups_;
  std::string task_;
  std::int64_t layers_;
};

// A row for each placement and warmup.
lab::Table accuracies(const Options& options, const Groups& groups, const std::string& title,
                      const std::string& optimizer) {
  const std::vector<double>& rates = options.rates_of(optimizer);
  lab::Table table = table_over_rates(title, {"", "", ""}, rates, "");
  for (const Placement placement : options.placements) {
    for (const std::int64_t warmup : options.warmups) {
      lab::Row row{normlab::name(placement), optimizer, warmup_text(warmup)};
      for (const double rate : rates) {
        row.push_back(text(*groups.at(placement, optimizer, warmup, rate)));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// The comparisons of the source article and of Xiong et al.
lab::Table differences(const Options& options, const Groups& groups) {
  lab::Table table =
      table_over_rates("differences in test accuracy, in points", {""}, options.rates, "+.1f");
  struct Side {
    Placement placement;
    std::string optimizer;
    std::int64_t warmup;
  };
  // Nothing if the grid has not both sides. Of two that failed the accuracies say nothing.
  const auto compare = [&](const std::string& label, const Side& left, const Side& right) {
    lab::Row row{label};
    for (const double rate : options.rates) {
      const Group* a = groups.at(left.placement, left.optimizer, left.warmup, rate);
      const Group* b = groups.at(right.placement, right.optimizer, right.warmup, rate);
      if (a == nullptr || b == nullptr) return;
      const double points = 100.0 * (a->accuracy.median - b->accuracy.median);
      row.push_back(a->failed() && b->failed() ? lab::Cell() : points);
    }
    table.rows.push_back(std::move(row));
  };
  for (const char* optimizer : {"adam", "radam"}) {
    for (const Placement placement : options.placements) {
      for (const std::int64_t warmup : options.warmups) {
        if (warmup == 0) continue;
        compare(fmt::format("{} {} +warmup {}", normlab::name(placement), optimizer, warmup),
                {placement, optimizer, warmup}, {placement, optimizer, 0});
      }
    }
  }
  for (const Placement placement : options.placements) {
    compare(fmt::format("{} radam - adam", normlab::name(placement)), {placement, "radam", 0},
            {placement, "adam", 0});
  }
  compare("pre - post, no warmup", {Placement::pre, "adam", 0}, {Placement::post, "adam", 0});
  const std::int64_t longest = *std::max_element(options.warmups.begin(), options.warmups.end());
  if (longest > 0) {
    compare(fmt::format("pre - post, warmup {}", longest), {Placement::pre, "adam", longest},
            {Placement::post, "adam", longest});
  }
  return table;
}

std::vector<lab::Column> configuration_columns() {
  return {{"task", "task"},           {"layers", "layers"}, {"placement", "placement"},
          {"optimizer", "optimizer"}, {"warmup", "warmup"}, {"lr", "rate", "g"}};
}

lab::Row configuration_cells(const Configuration& c) {
  return {c.task, c.layers, normlab::name(c.placement), c.optimizer, c.warmup, c.rate};
}

lab::Table groups_table(const std::vector<Group>& groups) {
  lab::Table table{.key = "groups",
                   .title = "Every group of seeds",
                   .columns = configuration_columns(),
                   .shown = Shown::on_page_and_in_json};
  table.columns.insert(table.columns.end(), {{"test_accuracy", "test accuracy, percent", ".1%"},
                                             {"stuck", "stuck"},
                                             {"diverged", "diverged"},
                                             {"runs", "runs"}});
  for (const Group& group : groups) {
    table.rows.push_back(configuration_cells(group.configuration));
    table.rows.back().insert(table.rows.back().end(),
                             {group.accuracy, group.stuck, group.diverged, group.runs});
  }
  return table;
}

// A table in JSON with a row, or several, for each point; cells(point) makes what follows the
// configuration and its seed.
template <typename F>
lab::Table points_table(const std::vector<Point>& points, const std::string& key,
                        std::vector<lab::Column> columns, F cells) {
  lab::Table table{
      .key = key, .title = "", .columns = configuration_columns(), .shown = Shown::in_json};
  table.columns.push_back({"seed", "seed"});
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const Point& point : points) {
    for (const lab::Row& own : cells(point)) {
      lab::Row row = configuration_cells(point.configuration);
      row.emplace_back(point.configuration.seed);
      row.insert(row.end(), own.begin(), own.end());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

lab::Table runs_table(const std::vector<Point>& points) {
  std::vector<lab::Column> columns{
      {"outcome", ""}, {"test_accuracy", ""}, {"chance_loss", ""}, {"curve", ""}};
  for (const lab::Column& column : divergence_columns()) columns.push_back(column);
  return points_table(points, "runs", columns, [](const Point& point) {
    lab::Row row{name(outcome(point)), accuracy(point), point.chance_loss, point.curve};
    for (const lab::Cell& cell : divergence_cells(point.trained.diverged)) row.push_back(cell);
    return std::vector<lab::Row>{row};
  });
}

lab::Table epochs_table(const std::vector<Point>& points) {
  std::vector<lab::Column> columns = epoch_columns();
  for (lab::Column& column : columns) {
    if (column.key == "lr") column.key = "step_lr";  // lr is the peak, of the configuration
  }
  return points_table(points, "epochs", columns, [](const Point& point) {
    std::vector<lab::Row> rows;
    for (const EpochRecord& record : point.trained.epochs) rows.push_back(epoch_cells(record));
    return rows;
  });
}

}  // namespace

lab::Results results(const Measured& measured) {
  const Options& options = measured.options;
  const std::vector<Group> all = groups(measured);
  lab::Results results{
      .title = "Which transformers need a learning-rate warmup",
      .heading = fmt::format(
          "width {}, {}, batches of {}, seeds [{}]\n"
          "Test accuracy in percent: median [min, max] over seeds. stuck n/m: at the end\n"
          "the test loss of n of m runs is above nine tenths of the chance-level loss,\n"
          "that of ignoring the input. *: some runs are stuck or diverged, but not most.",
          options.width, counted(options.epochs, "epoch"), options.batch_size,
          fmt::join(options.seeds, ", ")),
      .look_for = {"Read a heat map from top to bottom: what a longer warmup does at one rate.",
                   "A curve that stays at one level belongs to a network that learned nothing from "
                   "its input."},
      .tables = {},
      .heat_maps = heat_maps(options, all),
      .panels = panels(measured)};
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      const Groups own(all, task, layers);
      const std::string title = fmt::format("{}, {}", task, counted(layers, "layer"));
      for (const std::string& optimizer : options.optimizers) {
        results.tables.push_back(accuracies(options, own, title, optimizer));
      }
      lab::Table compared = differences(options, own);
      if (!compared.rows.empty()) results.tables.push_back(std::move(compared));
    }
  }
  results.tables.push_back(groups_table(all));
  results.tables.push_back(runs_table(measured.points));
  results.tables.push_back(epochs_table(measured.points));
  return results;
}

}  // namespace normlab::warmup
