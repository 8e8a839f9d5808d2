#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/theory/mean_field_measurement.hpp"

namespace normlab::mean_field {

// Mean-field theory beside simulation, layer by layer.
struct Options {
  // simplified: the network that the theory is about, on Gaussian tokens. article: the network of
  // init_gradients on digits, which breaks its assumptions.
  std::string network = "simplified";
  // Its placement is that of each comparison, its ffn follows from ffn_ratio.
  MeanFieldSetting setting{};
  std::int64_t ffn_ratio = 1;    // ffn / width
  EncoderModel::Config model{};  // article
  std::int64_t images = 64;      // article
  std::vector<Placement> placements{Placement::post, Placement::pre, Placement::res_post};
  std::int64_t seeds = 20;  // 0, 1, ...

  bool article() const { return network == "article"; }
};

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// One placement. All lists of norms hold squares.
struct Comparison {
  MeanFieldSetting setting;
  std::vector<BlockMoments> blocks;  // theory, like the next two
  PairMoments output_gradient;
  SquaredNorms expected;
  std::vector<MeanFieldMeasurement> measured;  // one per seed
  // Theory that starts from the gradient measured at this seed's output, and so is free of the
  // chance that lies in the classifier and the labels.
  std::vector<SquaredNorms> expected_from_measured;
};

struct Measured {
  Options options;
  std::vector<Comparison> placements;

  bool all_finite() const;
};
Measured measure(const Options& options, const lab::Run& run);

// What the network has that the theory does not allow for; nothing for the simplified one.
std::vector<std::string> broken_assumptions(const Options& options);

lab::Results results(const Measured& measured);
std::vector<Figure> figures(const Measured& measured);

// The program.
int main(int argc, const char* const* argv);

}  // namespace normlab::mean_field
