// Tested by tests/experiments/mean_field/mean_field_test.cpp.
#include "experiments/mean_field/mean_field.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/mean_field/summary.hpp"

namespace normlab {

namespace {

constexpr const char* kName = "mean_field";
// Weights of one network: above, a request is taken for a slip.
constexpr std::int64_t kMostWeights = std::int64_t{1} << 28;

bool is_article(const MeanFieldOptions& options) {
  return options.network == MeanFieldOptions::Network::article;
}

PairMoments mean_input(const std::vector<MeanFieldMeasurement>& measured) {
  PairMoments sum{};
  for (const MeanFieldMeasurement& each : measured) sum = sum + each.input;
  return sum / static_cast<double>(measured.size());
}

void add_theory(PlacementComparison& comparison) {
  comparison.blocks = forward_moments(comparison.setting);
  comparison.output_gradient = output_gradient(comparison.setting, comparison.blocks);
  comparison.expected =
      expected_gradients(comparison.setting, comparison.blocks, comparison.output_gradient);
  for (const MeanFieldMeasurement& each : comparison.measured) {
    comparison.expected_from_measured.push_back(
        expected_gradients(comparison.setting, comparison.blocks, each.output_gradient));
  }
}

}  // namespace

bool MeanFieldResult::all_finite() const {
  const auto finite = [](const SquaredNorms& norms) {
    for (const WeightName& weight : kWeights) {
      const std::vector<double>& list = norms.*weight.list;
      if (!std::all_of(list.begin(), list.end(), [](double v) { return std::isfinite(v); })) {
        return false;
      }
    }
    return true;
  };
  return std::all_of(placements.begin(), placements.end(), [&](const PlacementComparison& each) {
    return finite(each.expected) &&
           std::all_of(each.measured.begin(), each.measured.end(),
                       [&](const MeanFieldMeasurement& seed) { return finite(seed.gradients); });
  });
}

void check_options(const MeanFieldOptions& options) {
  check_placements(kName, options.placements);
  check(options.seeds >= 1, kName, "--seeds", "must be at least 1",
        [&] { return std::to_string(options.seeds); });
  const MeanFieldSetting& s = options.setting;
  check(s.input.within >= 0.0 && s.input.within <= s.input.same, kName, "--input-correlation",
        "must be from 0 to 1", [&] { return fmt::format("{}", s.input.within); });
  const std::int64_t per_layer = s.width * (s.width + 2 * s.ffn);
  check(s.layers <= kMostWeights / per_layer, kName, "--layers",
        fmt::format("times {} weights per layer must be at most {}", per_layer, kMostWeights),
        [&] { return fmt::format("{} layers", s.layers); });
}

MeanFieldResult run_mean_field(const MeanFieldOptions& options, const Digits& digits, int threads,
                               const JobProgress& progress) {
  check_options(options);
  Tokens tokens;
  if (is_article(options)) {
    check(options.images >= 1 && options.images <= digits.size(), kName, "--images",
          fmt::format("must be from 1 to {}", digits.size()),
          [&] { return std::to_string(options.images); });
    tokens = tokens_of(digits.range(0, options.images));
  }
  MeanFieldResult result{options, {}};
  for (Placement placement : options.placements) {
    PlacementComparison& comparison = result.placements.emplace_back();
    comparison.setting = options.setting;
    comparison.setting.placement = placement;
    comparison.measured.resize(static_cast<std::size_t>(options.seeds));
  }
  std::vector<Job> jobs;
  for (PlacementComparison& comparison : result.placements) {
    for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
      jobs.push_back({1.0, [&, seed] {
                        const MeanFieldSetting& s = comparison.setting;
                        comparison.measured[seed] =
                            is_article(options) ? measure_encoder(options.model, s.placement,
                                                                  s.layers, seed, tokens)
                                                : measure_simplified(s, seed);
                      }});
    }
  }
  run_jobs(jobs, threads, progress);
  for (PlacementComparison& comparison : result.placements) {
    if (is_article(options)) {
      comparison.setting =
          setting_of_encoder(options.model, comparison.setting.placement, options.setting.layers,
                             tokens, mean_input(comparison.measured));
    }
    add_theory(comparison);
  }
  return result;
}

std::vector<std::string> broken_assumptions(const MeanFieldOptions& options) {
  if (!is_article(options)) return {};
  return {
      fmt::format("Attention is not uniform: {} heads with random queries and keys.",
                  options.model.nhead),
      "Tokens are not alike: patches differ in size; the theory takes means over all pairs.",
      "Classes are not drawn evenly: they are those of the images.",
      fmt::format("The width is not large: d = {}.", options.model.d_model),
  };
}

std::vector<double> over_seeds(const PlacementComparison& comparison,
                               const std::function<double(const MeanFieldMeasurement&)>& number) {
  std::vector<double> values;
  for (const MeanFieldMeasurement& each : comparison.measured) values.push_back(number(each));
  return values;
}

LayerComparison moment_at(const PlacementComparison& comparison, const MomentName& moment,
                          std::size_t block) {
  return {moment.of(comparison.blocks[block].after_ffn),
          estimate(over_seeds(comparison, [&](const MeanFieldMeasurement& m) {
            return moment.of(m.blocks[block].after_ffn);
          }))};
}

GradientComparison gradient_at(const PlacementComparison& comparison, const WeightName& weight,
                               std::size_t block) {
  std::vector<double> ratios;
  for (std::size_t seed = 0; seed < comparison.measured.size(); ++seed) {
    const double measured = (comparison.measured[seed].gradients.*weight.list)[block];
    const double expected = (comparison.expected_from_measured[seed].*weight.list)[block];
    ratios.push_back(std::sqrt(measured / expected));
  }
  return {std::sqrt((comparison.expected.*weight.list)[block]),
          root_mean(over_seeds(
              comparison,
              [&](const MeanFieldMeasurement& m) { return (m.gradients.*weight.list)[block]; })),
          estimate(ratios)};
}

}  // namespace normlab
