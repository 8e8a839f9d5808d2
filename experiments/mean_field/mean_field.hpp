#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/lab/report/report.hpp"
#include "experiments/lab/runs/jobs.hpp"
#include "experiments/theory/mean_field_cell.hpp"

namespace normlab {

// Mean-field theory beside simulation, layer by layer.
struct MeanFieldOptions {
  // simplified: the network that the theory is about, on Gaussian tokens. article: the network of
  // init_gradients on digits, which breaks its assumptions.
  enum class Network { simplified, article };
  Network network = Network::simplified;
  MeanFieldSetting setting{};  // its placement is each of `placements` in turn
  EncoderModel::Config model{};
  std::int64_t images = 64;  // article
  std::vector<Placement> placements{Placement::post, Placement::pre, Placement::res_post};
  std::int64_t seeds = 20;  // 0, 1, ...
};

// One placement. All lists of norms hold squares.
struct PlacementComparison {
  MeanFieldSetting setting;
  std::vector<BlockMoments> blocks;  // theory, like the next two
  PairMoments output_gradient;
  SquaredNorms expected;
  std::vector<MeanFieldMeasurement> measured;  // one per seed
  // Theory that starts from the gradient measured at this seed's output, and so is free of the
  // chance that lies in the classifier and the labels.
  std::vector<SquaredNorms> expected_from_measured;
};

struct MeanFieldResult {
  MeanFieldOptions options;
  std::vector<PlacementComparison> placements;

  bool all_finite() const;
};

// Throws std::invalid_argument for options that do not fit together, before anything is computed.
void check_options(const MeanFieldOptions& options);

// The result does not depend on `threads`. `digits` are read for the article's network only.
MeanFieldResult run_mean_field(const MeanFieldOptions& options, const Digits& digits, int threads,
                               const JobProgress& progress = {});

// What the network has that the theory does not allow for; nothing for the simplified one.
std::vector<std::string> broken_assumptions(const MeanFieldOptions& options);

std::string text_of(const MeanFieldResult& result);
std::string json_of(const MeanFieldResult& result);
Report report_of(const MeanFieldResult& result, const std::string& command);
std::vector<Figure> figures_of(const MeanFieldResult& result);

// The program: 0; 1 when a number is not finite; 2 for bad usage.
int mean_field_main(int argc, const char* const* argv);

}  // namespace normlab
