// Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include "experiments/mean_field/mean_field.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/mean_field/layer_moments.hpp"

namespace normlab::mean_field {

namespace {

constexpr const char* kProgram = "mean_field";
// Weights of one network: above, a request is taken for a slip.
constexpr std::int64_t kMostWeights = std::int64_t{1} << 28;

PairMoments mean_input(const std::vector<MeanFieldMeasurement>& measured) {
  PairMoments sum{};
  for (const MeanFieldMeasurement& seed : measured) sum = sum + seed.input;
  return sum / static_cast<double>(measured.size());
}

// Placement by placement, without what is measured and expected.
std::vector<Comparison> comparisons(const Options& options) {
  std::vector<Comparison> comparisons;
  for (Placement placement : options.placements) {
    Comparison& comparison = comparisons.emplace_back();
    comparison.setting = options.setting;
    comparison.setting.ffn = options.ffn_ratio * options.setting.width;
    comparison.setting.placement = placement;
    comparison.measured.resize(static_cast<std::size_t>(options.seeds));
  }
  return comparisons;
}

void add_theory(Comparison& comparison) {
  comparison.blocks = forward_moments(comparison.setting);
  comparison.output_gradient = output_gradient(comparison.setting, comparison.blocks);
  comparison.expected =
      expected_gradients(comparison.setting, comparison.blocks, comparison.output_gradient);
  for (const MeanFieldMeasurement& seed : comparison.measured) {
    comparison.expected_from_measured.push_back(
        expected_gradients(comparison.setting, comparison.blocks, seed.output_gradient));
  }
}

bool finite(const SquaredNorms& norms) {
  return std::all_of(std::begin(kWeights), std::end(kWeights), [&](const Weight& weight) {
    const std::vector<double>& squares = norms.*weight.squares;
    return std::all_of(squares.begin(), squares.end(), [](double v) { return std::isfinite(v); });
  });
}

bool finite(const Comparison& comparison) {
  return finite(comparison.expected) &&
         std::all_of(comparison.measured.begin(), comparison.measured.end(),
                     [](const MeanFieldMeasurement& seed) { return finite(seed.gradients); });
}

}  // namespace

bool Measured::all_finite() const {
  return std::all_of(placements.begin(), placements.end(),
                     [](const Comparison& comparison) { return finite(comparison); });
}

void check(const Options& options) {
  normlab::check(options.article() || options.network == "simplified", kProgram, "--network",
                 "must be simplified or article", options.network);
  check_placements(kProgram, options.placements);
  normlab::check(options.seeds >= 1, kProgram, "--seeds", "must be at least 1",
                 [&] { return std::to_string(options.seeds); });
  const MeanFieldSetting& s = options.setting;
  normlab::check(s.input.within >= 0.0 && s.input.within <= s.input.same, kProgram,
                 "--input-correlation", "must be from 0 to 1",
                 [&] { return fmt::format("{}", s.input.within); });
  const std::int64_t per_layer = s.width * s.width * (1 + 2 * options.ffn_ratio);
  normlab::check(
      s.layers <= kMostWeights / per_layer, kProgram, "--layers",
      fmt::format("times {} weights per layer must be at most {}", per_layer, kMostWeights),
      [&] { return fmt::format("{} layers", s.layers); });
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  Tokens tokens;
  if (options.article()) tokens = tokens_of(load_digits().range(0, options.images));
  Measured measured{options, comparisons(options)};
  std::vector<Job> jobs;
  for (Comparison& comparison : measured.placements) {
    for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
      jobs.push_back({1.0, [&, seed] {
                        const MeanFieldSetting& s = comparison.setting;
                        comparison.measured[seed] =
                            options.article() ? measure_encoder(options.model, s.placement,
                                                                s.layers, seed, tokens)
                                              : measure_simplified(s, seed);
                      }});
    }
  }
  run_jobs(jobs, run.threads, run.progress);
  for (Comparison& comparison : measured.placements) {
    if (options.article()) {
      comparison.setting =
          setting_of_encoder(options.model, comparison.setting.placement, options.setting.layers,
                             tokens, mean_input(comparison.measured));
    }
    add_theory(comparison);
  }
  return measured;
}

std::vector<std::string> broken_assumptions(const Options& options) {
  if (!options.article()) return {};
  return {
      fmt::format("Attention is not uniform: {} heads with random queries and keys.",
                  options.model.nhead),
      "Tokens are not alike: patches differ in size; the theory takes means over all pairs.",
      "Classes are not drawn evenly: they are those of the images.",
      fmt::format("The width is not large: d = {}.", options.model.d_model),
  };
}

}  // namespace normlab::mean_field
