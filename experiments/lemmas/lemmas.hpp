#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/lab/report/report.hpp"
#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/stats/line_fit.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "experiments/theory/mean_field_cell.hpp"

namespace normlab {

// The lemmas and the theorem of Xiong et al. (2020), measured in the setting they are proved in.
struct LemmaOptions {
  // Its placement, layers and widths are those of each cell; width is that of the cells that vary
  // the depth.
  MeanFieldSetting setting{};
  std::vector<std::int64_t> depths{2, 4, 8, 16, 32, 48};
  std::vector<std::int64_t> widths{64, 128, 256, 512, 1024};  // of networks of kDepthOfWidths
  std::int64_t seeds = 10;                                    // 0, 1, ...
};
inline constexpr std::int64_t kDepthOfWidths = 6;

struct LemmaCell {
  Placement placement;
  std::int64_t layers, width;
  std::uint64_t seed;
  MeanFieldMeasurement measured{};
  double expected_last_w2 = 0.0;  // by the theory: root of the expected square

  double last_w2() const;  // the norm, not its square
};

// One statement with a number in it.
struct Claim {
  std::string title{}, statement{};
  Estimate measured{};           // with the standard error over seeds
  double low = 0.0, high = 0.0;  // what the statement allows; equal for one value
  // How far a finite network may be off a statement about expectations or wide ones.
  double margin = 0.0;
  bool must_hold = false;  // proved in this setting, so that a miss is a fault of the program
  double theory = std::numeric_limits<double>::quiet_NaN();  // mean-field value, if there is one

  double miss() const;  // how far the measured value is outside; 0 inside
  // Within four standard errors and the margin.
  bool holds() const;
};

struct LemmaResult {
  LemmaOptions options;
  std::vector<LemmaCell> by_depth, by_width;
  std::vector<Claim> claims;

  bool proved_claims_hold() const;
};

// Throws std::invalid_argument for options that do not fit together, before anything is computed.
void check_options(const LemmaOptions& options);

// The result does not depend on `threads`.
LemmaResult run_lemmas(const LemmaOptions& options, int threads, const JobProgress& progress = {});

// The networks of one kind, and their setting.
std::vector<const LemmaCell*> cells_of(const std::vector<LemmaCell>& cells, Placement placement,
                                       std::int64_t layers, std::int64_t width);
MeanFieldSetting setting_of(const LemmaOptions& options, Placement placement, std::int64_t layers,
                            std::int64_t width);

// The claims, one group each.
std::vector<Claim> relu_claims(const LemmaOptions& options);      // Lemma 1
std::vector<Claim> stream_claims(const LemmaResult& result);      // Lemma 2
std::vector<Claim> jacobian_claims(const LemmaOptions& options);  // Lemma 3
std::vector<Claim> gradient_claims(const LemmaResult& result);    // Theorem 1
std::vector<Claim> boundedness_claims(const LemmaResult& result);

// (epsilon, delta)-boundedness (their section 3.3), read two-sided: with a probability of at least
// 1 - delta, |x|^2 is within epsilon E|x|^2 of its mean. This is delta, over tokens and weights, of
// what the last norm receives.
inline constexpr double kEpsilon = 0.1;
Estimate share_outside(const LemmaResult& result, Placement placement, std::int64_t width);

std::string text_of(const LemmaResult& result);
std::string json_of(const LemmaResult& result);
Report report_of(const LemmaResult& result, const std::string& command);
std::vector<Figure> figures_of(const LemmaResult& result);

// The program: 0; 1 when a claim that is proved in this setting does not hold; 2 for bad usage.
int lemmas_main(int argc, const char* const* argv);

}  // namespace normlab
