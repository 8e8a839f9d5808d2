#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab::warmup {

// Does a learning-rate warmup decide whether a transformer trains? Xiong et al. (2020, Section 3.2
// and 4.2) found that post-norm needs one under Adam, and that pre-norm does not. Here every
// combination of the lists is trained.
//
// Two runs that differ in the warmup differ in nothing else: the rate rises linearly over that many
// steps and then stays at its peak, without clipping, dropout or weight decay.
//
// Tasks: digits is that of train_digits; numbers that of train_translation, with half of the layers
// in the encoder and half in the decoder.
struct Options {
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

std::vector<std::string> task_names();

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

struct Configuration {
  std::string task;
  Placement placement;
  std::int64_t layers;
  std::string optimizer;
  std::int64_t warmup;
  double rate;
  std::uint64_t seed;
};

// A configuration, and what its training gave.
struct Point {
  Configuration configuration;
  double chance_loss = 0.0;
  std::vector<double> curve{};  // mean training loss of each kCurveSteps steps
  TrainingResult trained{};
};
inline constexpr std::int64_t kCurveSteps = 15;

// By task, depth, optimizer, placement, warmup, rate, seed.
std::vector<Point> points_of(const Options& options);

struct Measured {
  Options options;
  std::vector<Point> points;
};
Measured measure(const Options& options, const lab::Run& run);

// What the file of --resume holds of a point; reading throws std::runtime_error for anything else.
nlohmann::ordered_json json_of(const Point& point);
void read(const nlohmann::ordered_json& json, Point& point);

// What became of a run. It is stuck if the test loss at its end is above nine tenths of the
// chance-level loss, which is the entropy of the labels: the loss of ignoring the input.
enum class Outcome { learned, stuck, diverged };
inline constexpr double kStuck = 0.9;
Outcome outcome(const Point& point);
const char* name(Outcome outcome);
// Of the test set at the end; 0 if the run diverged.
double accuracy(const Point& point);

// The points that differ in their seed only.
struct Group {
  Configuration configuration;  // of the first seed
  Spread accuracy;
  std::int64_t stuck = 0, diverged = 0, runs = 0;

  bool failed() const { return 2 * (stuck + diverged) > runs; }
};
std::vector<Group> groups(const Measured& measured);

lab::Results results(const Measured& measured);
std::vector<HeatMap> heat_maps(const Options& options, const std::vector<Group>& groups);
std::vector<Panel> panels(const Measured& measured);

// The program: 0; 2 for bad usage or bad input.
int main(int argc, const char* const* argv);

}  // namespace normlab::warmup
