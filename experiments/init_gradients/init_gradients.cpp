// Tested by tests/experiments/init_gradients/init_gradients_test.cpp and by the end-to-end test of
// the program.
#include "experiments/init_gradients/init_gradients.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kName = "init_gradients";

void add_cells(const InitGradientsOptions& options, std::int64_t layers, double scale,
               std::vector<MeasuredCell>& cells) {
  for (Placement placement : options.placements) {
    for (std::uint64_t seed : options.seeds) {
      const GradientCell cell{layers, placement, seed, scale};
      const bool known = std::any_of(cells.begin(), cells.end(),
                                     [&](const MeasuredCell& each) { return each.cell == cell; });
      if (!known) cells.push_back({cell, {}});
    }
  }
}

void check_between(const char* option, std::int64_t value, std::int64_t high) {
  check(value >= 1 && value <= high, kName, option, fmt::format("must be from 1 to {}", high),
        [&] { return std::to_string(value); });
}

void check_scales(const std::vector<InputScale>& scales) {
  std::vector<double> values;
  for (const InputScale& scale : scales) {
    check(std::isfinite(scale.value) && scale.value > 0.0, kName, "--input-scale",
          "must be positive numbers", scale.name);
    values.push_back(scale.value);
  }
  check_distinct(kName, "--input-scale", values, [&](double value) {
    std::string names;
    for (const InputScale& scale : scales) {
      if (scale.value == value) names += (names.empty() ? "" : " and ") + scale.name;
    }
    return fmt::format("{}, which are both {}", names, value);
  });
}

void check_sizes(const EncoderModel::Config& model, std::int64_t deepest) {
  check_heads(kName, model.d_model, model.nhead);
  check_between("--width", model.d_model, kMostWidth);
  check_between("--ffn", model.dim_feedforward, kMostWidth);
  const std::int64_t per_layer = 2 * model.d_model * (2 * model.d_model + model.dim_feedforward);
  check(deepest <= kMostWeights / per_layer, kName, "--layers",
        fmt::format("times {} weights per layer must be at most {} weights (a smaller --width, "
                    "--ffn or depth fits)",
                    per_layer, kMostWeights),
        [&] { return fmt::format("{} layers", deepest); });
  nn::norms().at(model.norm).make(model.d_model, {});  // one that does not take the width says so
}

}  // namespace

std::vector<MeasuredCell> needed_cells(const InitGradientsOptions& options) {
  std::vector<MeasuredCell> cells;
  add_cells(options, options.profile_layers, options.scales.front().value, cells);
  for (const InputScale& scale : options.scales) {
    for (std::int64_t layers : options.layers) add_cells(options, layers, scale.value, cells);
  }
  return cells;
}

std::vector<std::vector<std::size_t>> groups_of(const std::vector<MeasuredCell>& cells) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t place = 0; place < cells.size(); ++place) {
    GradientCell cell = cells[place].cell;
    const auto fits = [&](const std::vector<std::size_t>& group) {
      cell.layers = cells[group.front()].cell.layers;
      return cell == cells[group.front()].cell && cell.placement != Placement::deep_norm;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), fits);
    if (found == groups.end()) {
      groups.push_back({place});
    } else {
      found->push_back(place);
    }
  }
  return groups;
}

bool InitGradientsResult::checks_passed() const {
  return norm_agreement.passed() &&
         std::all_of(finite_differences.begin(), finite_differences.end(),
                     [](const FiniteDifferenceCheck& each) { return each.passed(); });
}

bool InitGradientsResult::all_finite() const {
  return std::all_of(cells.begin(), cells.end(),
                     [](const MeasuredCell& each) { return each.measured.all_finite(); });
}

const GradientMeasurement& InitGradientsResult::measurement(const GradientCell& cell) const {
  const auto found = std::find_if(cells.begin(), cells.end(),
                                  [&](const MeasuredCell& each) { return each.cell == cell; });
  check(found != cells.end(), kName, "cell", "must have been measured",
        [&] { return fmt::format("{} layers, seed {}", cell.layers, cell.seed); });
  return found->measured;
}

void check_options(const InitGradientsOptions& options) {
  check(options.images >= 1, kName, "--images", "must be at least 1",
        [&] { return std::to_string(options.images); });
  check_seeds(kName, options.seeds);
  check_distinct(kName, "--layers", options.layers);
  check_placements(kName, options.placements);
  check_scales(options.scales);
  std::int64_t deepest = options.profile_layers;
  for (std::int64_t layers : options.layers) {
    check_between("--layers", layers, kMostLayers);
    deepest = std::max(deepest, layers);
  }
  check_between("--profile-layers", options.profile_layers, kMostLayers);
  check_sizes(options.model, deepest);
}

InitGradientsResult run_init_gradients(const InitGradientsOptions& options, const Digits& digits,
                                       int threads, const JobProgress& progress) {
  check_options(options);
  check(options.images <= digits.size(), kName, "--images",
        fmt::format("must be at most {}, as many as there are", digits.size()),
        [&] { return std::to_string(options.images); });
  InitGradientsResult result{
      options, tokens_of(digits.range(0, options.images)), {}, {}, needed_cells(options)};
  std::vector<Job> jobs;
  for (const std::vector<std::size_t>& group : groups_of(result.cells)) {
    std::vector<GradientCell> cells;
    double layers = 0.0;
    for (std::size_t place : group) {
      cells.push_back(result.cells[place].cell);
      layers += static_cast<double>(cells.back().layers);
    }
    jobs.push_back({layers, [&result, group, cells] {
                      const auto measured =
                          measure_depths(result.options.model, cells, result.tokens);
                      for (std::size_t i = 0; i < group.size(); ++i) {
                        result.cells[group[i]].measured = measured[i];
                      }
                    }});
  }
  std::vector<std::vector<FiniteDifferenceCheck>> checks(options.placements.size());
  for (std::size_t i = 0; i < checks.size(); ++i) {
    constexpr double kPassesLike = 2.5;  // one with backward, four forward only
    jobs.push_back({kPassesLike * static_cast<double>(kCheckedDepth), [&, i] {
                      checks[i] = check_finite_differences(options.model, options.placements[i],
                                                           result.tokens);
                    }});
  }
  jobs.push_back(
      {0.1, [&] { result.norm_agreement = check_norm_agreement(options.model, result.tokens); }});
  run_jobs(jobs, threads, progress);
  for (const auto& of_placement : checks) {
    result.finite_differences.insert(result.finite_differences.end(), of_placement.begin(),
                                     of_placement.end());
  }
  return result;
}

}  // namespace normlab
