#pragma once

#include <string>
#include <vector>

#include "experiments/discrepancy/configuration.hpp"
#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"

namespace normlab::discrepancy {

// What separates the source article's measurement from that of Xiong et al. (2020): the same
// quantities in setups that differ in one thing at a time. The defaults are the published run.
struct Options {
  std::vector<Ablation> ablations = all_ablations();
  std::vector<std::int64_t> layers{6, 12, 24};  // at least two, for an exponent
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::int64_t large_seeds = 3;  // large setups get only the first so many of the seeds
  // Configurations with at least this layers * width^2 (24 layers of width 512 have 6.3 million)
  // are computed in two parts, by two threads if there are as many.
  std::int64_t split_from = 5'000'000;

  // 12 if among the layers, else the deepest: where profiles are compared.
  std::int64_t profile_layers() const;
  std::vector<std::uint64_t> seeds_of(const Ablation& ablation) const;
  int parts_of(const Setup& setup, std::int64_t depth) const;
};

// Throws std::invalid_argument for options that do not fit together, before anything is computed.
void check(const Options& options);

struct Point {
  Configuration configuration;
  Setup setup;
  Measurement measured{};
  std::vector<PartialMeasurement> parts{};  // while it is computed
};

// Ablation by ablation, in the order of the options.
std::vector<Point> points_of(const Options& options);

struct Measured {
  Options options;
  std::vector<Point> points;

  // Throws std::invalid_argument if it was not measured.
  const Measurement& measurement(const Configuration& configuration) const;
  bool all_finite() const;  // every gradient norm
};
Measured measure(const Options& options, const lab::Run& run);

lab::Results results(const Measured& measured);
std::vector<Figure> figures(const Measured& measured);  // a part of it

// The program: 0; 1 when a number is not finite; 2 for bad usage.
int main(int argc, const char* const* argv);

}  // namespace normlab::discrepancy
