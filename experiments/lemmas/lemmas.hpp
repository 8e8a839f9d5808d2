#pragma once

#include <cstdint>
#include <vector>

#include "experiments/lab/results/claim.hpp"
#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/theory/mean_field_measurement.hpp"

namespace normlab::lemmas {

// The lemmas and the theorem of Xiong et al. (2020), measured in the setting they are proved in.
struct Options {
  // Its placement, layers and widths are those of each network; its width is that of the networks
  // of different depths.
  MeanFieldSetting setting{};
  std::vector<std::int64_t> depths{2, 4, 8, 16, 32, 48};
  std::vector<std::int64_t> widths{64, 128, 256, 512, 1024};  // of networks of kDepthOfWidths
  std::int64_t seeds = 10;                                    // 0, 1, ...

  std::int64_t deepest() const;
  std::int64_t widest() const;
};
inline constexpr std::int64_t kDepthOfWidths = 6;

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// What differs between the networks of one series.
enum class Axis { depth, width };
const std::vector<std::int64_t>& values(const Options& options, Axis axis);  // its L or d

// One network and what was measured of it.
struct Point {
  Axis axis;
  Placement placement;
  std::int64_t layers, width;
  std::uint64_t seed;
  MeanFieldMeasurement measured{};
  double expected_last_w2 = 0.0;  // by the theory: root of the expected square

  double last_w2() const;  // the norm, not its square
  std::int64_t value() const { return axis == Axis::depth ? layers : width; }
};

// Of these sizes, on the tokens and classes of the options.
MeanFieldSetting setting(const Options& options, Placement placement, std::int64_t layers,
                         std::int64_t width);

struct Measured {
  Options options;
  std::vector<Point> points;

  // The seeds of one network.
  std::vector<const Point*> seeds(Axis axis, Placement placement, std::int64_t value) const;
};
Measured measure(const Options& options, const lab::Run& run);

// The claims, group by group.
std::vector<lab::Claim> relu_claims(const Options& options);        // Lemma 1
std::vector<lab::Claim> stream_claims(const Measured& measured);    // Lemma 2
std::vector<lab::Claim> jacobian_claims(const Options& options);    // Lemma 3
std::vector<lab::Claim> gradient_claims(const Measured& measured);  // Theorem 1
std::vector<lab::Claim> boundedness_claims(const Measured& measured);
std::vector<lab::Claim> claims(const Measured& measured);  // all of them

// (epsilon, delta)-boundedness (their section 3.3), read two-sided: with a probability of at least
// 1 - delta, |x|^2 is within epsilon E|x|^2 of its mean. This is delta, over tokens and weights, of
// what the last norm receives.
inline constexpr double kEpsilon = 0.1;
Estimate share_outside(const Measured& measured, Placement placement, std::int64_t width);

lab::Results results(const Measured& measured);
std::vector<Figure> figures(const Measured& measured);

// The program.
int main(int argc, const char* const* argv);

}  // namespace normlab::lemmas
