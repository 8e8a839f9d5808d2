#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// Does a learning-rate warmup decide whether a transformer trains? Xiong et al. (2020, Section 3.2
// and 4.2) found that post-norm needs one under Adam, and that pre-norm does not. Here every
// combination of the lists is trained.
//
// Between two runs that differ in the warmup nothing else differs: the rate rises linearly over so
// many steps and then stays at its peak; no clipping, no dropout, no weight decay.
//
// Tasks: digits is that of train_digits; numbers that of train_translation, with half of the layers
// in the encoder and half in the decoder.
struct WarmupOptions {
  std::vector<std::string> tasks{"digits", "numbers"};
  std::vector<Placement> placements{Placement::post, Placement::pre};
  std::vector<std::int64_t> layers{4, 12};
  std::vector<std::string> optimizers{"adam", "radam", "sgd"};
  std::vector<std::int64_t> warmups{0, 20, 100};    // steps
  std::vector<double> rates{1e-3, 2e-3, 4e-3};      // the peak, of Adam and RAdam
  std::vector<double> sgd_rates{3e-3, 1e-2, 3e-2};  // of SGD with momentum 0.9
  std::vector<std::uint64_t> seeds{0, 1};
  std::int64_t epochs = 3, batch_size = 16, width = 32;

  const std::vector<double>& rates_of(const std::string& optimizer) const {
    return optimizer == "sgd" ? sgd_rates : rates;
  }
};

std::vector<std::string> warmup_task_names();

struct WarmupCell {
  std::string task;
  Placement placement;
  std::int64_t layers;
  std::string optimizer;
  std::int64_t warmup;
  double rate;
  std::uint64_t seed;
};

struct WarmupRun {
  WarmupCell cell;
  bool known = false;  // trained, or taken from a file
  double loss_of_frequencies = 0.0;
  std::vector<double> curve{};  // mean training loss of each kCurveSteps steps
  TrainingResult trained{};
};
inline constexpr std::int64_t kCurveSteps = 15;

// What became of a run. It is stuck if the test loss at its end is above nine tenths of the loss of
// who knows how frequent the labels are and nothing of the input.
enum class Outcome { learned, stuck, diverged };
inline constexpr double kStuck = 0.9;
Outcome outcome_of(const WarmupRun& run);
// Of the test set at the end; of a run that diverged, none: 0.
double accuracy_of(const WarmupRun& run);

// The runs that differ in their seed only.
struct WarmupGroup {
  WarmupCell cell;  // of the first seed
  Spread accuracy;
  int stuck = 0, diverged = 0, runs = 0;

  bool failed() const { return 2 * (stuck + diverged) > runs; }
};

struct WarmupResult {
  WarmupOptions options;
  std::vector<WarmupRun> runs;  // in the order of needed_runs

  std::vector<WarmupGroup> groups() const;
};

// Throws std::invalid_argument before anything is computed.
void check_options(const WarmupOptions& options);

// By task, depth, optimizer, placement, warmup, rate, seed.
std::vector<WarmupRun> needed_runs(const WarmupOptions& options);

// Trains the runs that are not known, in parallel, and calls `finished` after each, one call at a
// time. The result does not depend on `threads`.
void train_runs(const WarmupOptions& options, int threads, std::vector<WarmupRun>& runs,
                const std::function<void(const WarmupRun&)>& finished = {},
                const JobProgress& progress = {});

nlohmann::ordered_json key_of(const WarmupCell& cell);
nlohmann::ordered_json json_of(const WarmupRun& run);
// Fills in what json_of wrote of such a run; throws std::runtime_error for anything else.
void read_run(const nlohmann::ordered_json& json, WarmupRun& run);

std::string text_of(const WarmupResult& result);
// JSON lines: the configuration, then a line for each epoch of each run, then one for each run.
std::string json_lines_of(const WarmupResult& result);

// The program: 0; 2 for bad usage or bad input.
int warmup_main(int argc, const char* const* argv);

}  // namespace normlab
