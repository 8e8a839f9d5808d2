#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/untrained/gradients.hpp"
#include "experiments/untrained/self_checks.hpp"

namespace normlab::init_gradients {

// A scale of the embedded input, under the name it is printed with.
struct InputScale {
  std::string name;
  double value;
};
// unit, 1/sqrt(d) or a number. Throws std::invalid_argument for anything else.
std::vector<InputScale> input_scales(const std::vector<std::string>& names, std::int64_t width);

// Gradients at initialization, post-norm against pre-norm (Xiong et al. 2020, section 3). The
// defaults are the published run.
struct Options {
  EncoderModel::Config model{};
  std::string digits{};  // a CSV file, or empty for the built-in one
  std::int64_t images = 256;
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4};
  std::vector<std::int64_t> layers{6, 12, 24};  // of the depth table
  std::int64_t profile_layers = 12;             // of the table over layers
  std::vector<InputScale> scales{{"unit", 1.0}, {"1/sqrt(d)", 0.125}};
  std::vector<Placement> placements{Placement::post, Placement::pre};

  std::int64_t checked_layers() const;  // of C1: the smallest of the depths, as published
};
// 12 if it is one of the depths, else the deepest.
std::int64_t default_profile(const std::vector<std::int64_t>& layers);

// Above these a request is taken for a slip: its weights and gradients alone would need more than
// 16 GiB, or its run days.
inline constexpr std::int64_t kMostLayers = 10'000, kMostWidth = 65'536;
inline constexpr std::int64_t kMostWeights = std::int64_t{1} << 30;  // of the deepest network

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// One network and what was measured of it.
struct Point {
  Configuration configuration;
  GradientMeasurement measured{};
};

// The points of both tables, in their order; one that both tables show stands there once.
std::vector<Point> points(const Options& options);

// The places of points that can be measured together: those that differ in depth only, unless the
// placement depends on the depth.
std::vector<std::vector<std::size_t>> groups(const std::vector<Point>& points);

struct Measured {
  Options options;
  Tokens tokens;
  std::vector<FiniteDifferenceCheck> finite_differences;  // C1
  NormAgreement norm_agreement;                           // C2
  std::vector<Point> points;

  bool checks_passed() const;  // C1 and C2
  bool all_finite() const;     // every loss, gradient norm and stream size
  // Throws std::invalid_argument if it was not measured.
  const GradientMeasurement& measurement(const Configuration& configuration) const;
  // The network of the table over layers; over_seeds says which seed.
  Configuration profile(Placement placement) const;
};
Measured measure(const Options& options, const lab::Run& run);

// number(measurement) of a configuration, seed by seed.
template <typename F>
std::vector<double> over_seeds(const Measured& measured, Configuration configuration, F number) {
  std::vector<double> numbers;
  for (std::uint64_t seed : measured.options.seeds) {
    configuration.seed = seed;
    numbers.push_back(number(measured.measurement(configuration)));
  }
  return numbers;
}
std::vector<double> last_gradients(const Measured& measured, std::int64_t layers,
                                   Placement placement, double scale);
// The median times sqrt(L), which Theorem 1 bounds for pre-norm.
double times_root_depth(const std::vector<double>& last_gradients, std::int64_t layers);

// The text, in the layout of the source article's script.
std::string article_table(const Measured& measured);

lab::Results results(const Measured& measured);
std::vector<Figure> figures(const Measured& measured);

// The program.
int main(int argc, const char* const* argv);

}  // namespace normlab::init_gradients
