// What warmup prints, and its JSON lines. Tested by tests/experiments/warmup/warmup_test.cpp.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_report.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kLabel = 23, kColumn = 19;

std::string label_of(const WarmupCell& cell) {
  return fmt::format("{:<5} {:<5} {}", name(cell.placement), cell.optimizer,
                     warmup_text(cell.warmup));
}

// "62.5 [60.1, 64.2]", with a star if some failed; or what became of most runs.
std::string entry_of(const WarmupGroup& group) {
  if (group.failed()) {
    const bool diverged = group.diverged >= group.stuck;
    return fmt::format("{} {}/{} ", diverged ? "diverged" : "stuck",
                       diverged ? group.diverged : group.stuck, group.runs);
  }
  return fmt::format("{:.1f} [{:.1f}, {:.1f}]{}", 100.0 * group.accuracy.median,
                     100.0 * group.accuracy.smallest, 100.0 * group.accuracy.largest,
                     group.stuck + group.diverged > 0 ? '*' : ' ');
}

std::string header(const std::string& label, const std::vector<double>& rates) {
  std::string line = fmt::format("{:<{}}", label, kLabel);
  for (const double rate : rates)
    line += fmt::format("{:>{}}", fmt::format("rate {:g}", rate), kColumn);
  return line + "\n";
}

// The groups of one task and depth, by what else they differ in.
class Groups {
 public:
  Groups(const std::vector<WarmupGroup>& groups, const std::string& task, std::int64_t layers)
      : groups_(groups), task_(task), layers_(layers) {}

  const WarmupGroup* at(Placement placement, const std::string& optimizer, std::int64_t warmup,
                        double rate) const {
    for (const WarmupGroup& each : groups_) {
      const WarmupCell& cell = each.cell;
      if (cell.task == task_ && cell.layers == layers_ && cell.placement == placement &&
          cell.optimizer == optimizer && cell.warmup == warmup && cell.rate == rate) {
        return &each;
      }
    }
    return nullptr;
  }

 private:
  const std::vector<WarmupGroup>& groups_;
  std::string task_;
  std::int64_t layers_;
};

// One comparison of two groups at every rate; nothing if the grid has not both. Of two that failed
// the accuracies say nothing.
template <typename A, typename B>
std::string compare(const std::string& label, const std::vector<double>& rates, A of, B against) {
  std::string line = fmt::format("{:<{}}", label, kLabel);
  for (const double rate : rates) {
    const WarmupGroup *a = of(rate), *b = against(rate);
    if (a == nullptr || b == nullptr) return "";
    const double points = 100.0 * (a->accuracy.median - b->accuracy.median);
    line += fmt::format("{:>{}}", a->failed() && b->failed() ? "-" : fmt::format("{:+.1f}", points),
                        kColumn);
  }
  return line + "\n";
}

// The comparisons of the source article and of Xiong et al., in points of accuracy.
std::string comparisons(const WarmupOptions& options, const Groups& groups) {
  const std::vector<double>& rates = options.rates;
  const std::int64_t longest = *std::max_element(options.warmups.begin(), options.warmups.end());
  const auto at = [&](Placement placement, const char* optimizer, std::int64_t warmup) {
    return [&groups, placement, optimizer, warmup](double rate) {
      return groups.at(placement, optimizer, warmup, rate);
    };
  };
  std::string text;
  for (const char* optimizer : {"adam", "radam"}) {
    for (const Placement placement : options.placements) {
      for (const std::int64_t warmup : options.warmups) {
        if (warmup == 0) continue;
        text += compare(fmt::format("{:<5} {:<5} +warmup {}", name(placement), optimizer, warmup),
                        rates, at(placement, optimizer, warmup), at(placement, optimizer, 0));
      }
    }
  }
  for (const Placement placement : options.placements) {
    text += compare(fmt::format("{:<5} radam - adam", name(placement)), rates,
                    at(placement, "radam", 0), at(placement, "adam", 0));
  }
  text += compare("pre - post, no warmup", rates, at(Placement::pre, "adam", 0),
                  at(Placement::post, "adam", 0));
  if (longest > 0) {
    text += compare(fmt::format("pre - post, warmup {}", longest), rates,
                    at(Placement::pre, "adam", longest), at(Placement::post, "adam", longest));
  }
  return text;
}

Json config_of(const WarmupOptions& options) {
  Json placements = Json::array();
  for (Placement placement : options.placements) placements.push_back(name(placement));
  return {
      {"tasks", options.tasks},           {"placements", placements},   {"layers", options.layers},
      {"optimizers", options.optimizers}, {"warmups", options.warmups}, {"lr", options.rates},
      {"sgd_lr", options.sgd_rates},      {"seeds", options.seeds},     {"epochs", options.epochs},
      {"batch_size", options.batch_size}, {"width", options.width}};
}

const char* text_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::learned:
      return "learned";
    case Outcome::stuck:
      return "stuck";
    case Outcome::diverged:
      return "diverged";
  }
  return "";
}

}  // namespace

std::string text_of(const WarmupResult& result) {
  const WarmupOptions& options = result.options;
  const std::vector<WarmupGroup> groups = result.groups();
  std::string text = fmt::format(
      "normlab {} | width {}, {} epochs, batches of {}, seeds [{}]\n"
      "Test accuracy in percent: median [min, max] over seeds. stuck n/m: after the\n"
      "last epoch n of m runs know no more than how frequent the labels are. *: so do\n"
      "some, but not most.\n",
      NORMLAB_VERSION, options.width, options.epochs, options.batch_size,
      fmt::join(options.seeds, ", "));
  for (const std::string& task : options.tasks) {
    for (const std::int64_t layers : options.layers) {
      const std::string title = fmt::format("{}, {} layers", task, layers);
      for (const std::string& optimizer : options.optimizers) {
        text += "\n";
        text += header(title, options.rates_of(optimizer));
        const WarmupCell* row = nullptr;
        for (const WarmupGroup& each : groups) {
          if (each.cell.task != task || each.cell.layers != layers ||
              each.cell.optimizer != optimizer) {
            continue;
          }
          if (row == nullptr || row->placement != each.cell.placement ||
              row->warmup != each.cell.warmup) {
            if (row != nullptr) text += "\n";
            text += fmt::format("{:<{}}", label_of(each.cell), kLabel);
          }
          row = &each.cell;
          text += fmt::format("{:>{}}", entry_of(each), kColumn);
        }
        text += "\n";
      }
      const std::string compared = comparisons(options, Groups(groups, task, layers));
      if (!compared.empty()) {
        text += "\n";
        text += header("differences, in points", options.rates) + compared;
      }
    }
  }
  return text;
}

Json key_of(const WarmupCell& cell) {
  return {{"task", cell.task},     {"placement", name(cell.placement)},
          {"layers", cell.layers}, {"optimizer", cell.optimizer},
          {"warmup", cell.warmup}, {"lr", cell.rate},
          {"seed", cell.seed}};
}

Json json_of(const WarmupRun& run) {
  Json json = {{"loss_of_frequencies", run.loss_of_frequencies},
               {"curve", json_numbers(run.curve)}};
  json.update(json_of(run.trained));
  return json;
}

void read_run(const Json& json, WarmupRun& run) {
  try {
    json.at("loss_of_frequencies").get_to(run.loss_of_frequencies);
    run.curve = numbers_from(json.at("curve"));
    run.trained = parse_result(json);
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("no run of warmup: ") + error.what());
  }
  if (!run.trained.diverged && run.trained.epochs.empty()) {
    throw std::runtime_error("no run of warmup: no epochs");
  }
  run.known = true;
}

std::string json_lines_of(const WarmupResult& result) {
  std::string lines = Json{{"experiment", "warmup"},
                           {"version", NORMLAB_VERSION},
                           {"config", config_of(result.options)}}
                          .dump() +
                      "\n";
  for (const WarmupRun& run : result.runs) {
    const Json key = key_of(run.cell);
    const Json trained = json_of(run);
    for (const Json& epoch : trained.at("epochs")) {
      lines += Json{{"cell", key}, {"epoch", epoch}}.dump() + "\n";
    }
    lines += Json{{"cell", key},
                  {"outcome", text_of(outcome_of(run))},
                  {"test_accuracy", accuracy_of(run)},
                  {"loss_of_frequencies", run.loss_of_frequencies},
                  {"curve", trained.at("curve")},
                  {"diverged", trained.at("diverged")}}
                 .dump() +
             "\n";
  }
  return lines;
}

}  // namespace normlab
