// The networks behind the claims. Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include "experiments/lemmas/lemmas.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"

namespace normlab {

namespace {

constexpr const char* kName = "lemmas";
constexpr std::int64_t kMostWeights = std::int64_t{1} << 28;  // of one network

void check_list(const char* option, const std::vector<std::int64_t>& values) {
  check(values.size() >= 2, kName, option, "must name at least two, to fit an exponent",
        [&] { return std::to_string(values.size()); });
  check_distinct(kName, option, values);
}

void check_size(const char* option, std::int64_t layers, std::int64_t width) {
  check(layers <= kMostWeights / (3 * width * width), kName, option,
        fmt::format("must make networks of at most {} weights", kMostWeights),
        [&] { return fmt::format("{} layers of width {}", layers, width); });
}

std::vector<LemmaCell> cells(const std::vector<std::int64_t>& depths,
                             const std::vector<std::int64_t>& widths, std::int64_t seeds) {
  std::vector<LemmaCell> all;
  for (Placement placement : {Placement::post, Placement::pre}) {
    for (std::int64_t layers : depths) {
      for (std::int64_t width : widths) {
        for (std::int64_t seed = 0; seed < seeds; ++seed) {
          all.push_back({placement, layers, width, static_cast<std::uint64_t>(seed)});
        }
      }
    }
  }
  return all;
}

void add_jobs(const LemmaOptions& options, std::vector<LemmaCell>& cells, std::vector<Job>& jobs) {
  for (LemmaCell& cell : cells) {
    const auto weights = static_cast<double>(cell.layers * cell.width * cell.width);
    jobs.push_back({weights, [&] {
                      cell.measured = measure_simplified(
                          setting_of(options, cell.placement, cell.layers, cell.width), cell.seed);
                    }});
  }
}

double expected_last_w2(const MeanFieldSetting& setting) {
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  return std::sqrt(expected_gradients(setting, blocks, output_gradient(setting, blocks)).w2.back());
}

// The seeds of one network follow one another, and share the theory.
void add_theory(const LemmaOptions& options, std::vector<LemmaCell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    LemmaCell& cell = cells[i];
    cell.expected_last_w2 =
        cell.seed > 0
            ? cells[i - 1].expected_last_w2
            : expected_last_w2(setting_of(options, cell.placement, cell.layers, cell.width));
  }
}

}  // namespace

double LemmaCell::last_w2() const { return std::sqrt(measured.gradients.w2.back()); }

double Claim::miss() const {
  if (std::isnan(measured.mean)) return measured.mean;
  return std::max({0.0, low - measured.mean, measured.mean - high});
}

bool Claim::holds() const { return miss() <= margin + 4.0 * measured.error; }

bool LemmaResult::proved_claims_hold() const {
  return std::all_of(claims.begin(), claims.end(),
                     [](const Claim& claim) { return !claim.must_hold || claim.holds(); });
}

void check_options(const LemmaOptions& options) {
  check(options.seeds >= 3, kName, "--seeds", "must be at least 3, to tell a spread",
        [&] { return std::to_string(options.seeds); });
  check_list("--layers", options.depths);
  check_list("--widths", options.widths);
  const PairMoments& input = options.setting.input;
  check(input.within >= 0.0 && input.within <= input.same, kName, "--input-correlation",
        "must be from 0 to 1", [&] { return fmt::format("{}", input.within); });
  for (std::int64_t layers : options.depths) {
    check(layers >= 1, kName, "--layers", "must be at least 1",
          [&] { return std::to_string(layers); });
    check_size("--layers", layers, options.setting.width);
  }
  for (std::int64_t width : options.widths) {
    check(width >= 3, kName, "--widths", "must be at least 3",
          [&] { return std::to_string(width); });
    check_size("--widths", kDepthOfWidths, width);
  }
}

MeanFieldSetting setting_of(const LemmaOptions& options, Placement placement, std::int64_t layers,
                            std::int64_t width) {
  MeanFieldSetting setting = options.setting;
  setting.placement = placement;
  setting.layers = layers;
  setting.width = setting.ffn = width;
  return setting;
}

std::vector<const LemmaCell*> cells_of(const std::vector<LemmaCell>& cells, Placement placement,
                                       std::int64_t layers, std::int64_t width) {
  std::vector<const LemmaCell*> found;
  for (const LemmaCell& cell : cells) {
    if (cell.placement == placement && cell.layers == layers && cell.width == width) {
      found.push_back(&cell);
    }
  }
  return found;
}

LemmaResult run_lemmas(const LemmaOptions& options, int threads, const JobProgress& progress) {
  check_options(options);
  LemmaResult result{options,
                     cells(options.depths, {options.setting.width}, options.seeds),
                     cells({kDepthOfWidths}, options.widths, options.seeds),
                     {}};
  std::vector<Job> jobs;
  add_jobs(options, result.by_depth, jobs);
  add_jobs(options, result.by_width, jobs);
  run_jobs(jobs, threads, progress);
  add_theory(options, result.by_depth);
  add_theory(options, result.by_width);
  for (const auto& group : {relu_claims(options), stream_claims(result), jacobian_claims(options),
                            gradient_claims(result), boundedness_claims(result)}) {
    result.claims.insert(result.claims.end(), group.begin(), group.end());
  }
  return result;
}

}  // namespace normlab
