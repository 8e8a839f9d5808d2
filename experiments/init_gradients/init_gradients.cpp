// Tested by tests/experiments/init_gradients/init_gradients_test.cpp and by the end-to-end test of
// the program.
#include "experiments/init_gradients/init_gradients.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/init_gradients/shared_depths.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::init_gradients {

namespace {

constexpr const char* kProgram = "init_gradients";

void add_points(const Options& options, std::int64_t layers, double scale,
                std::vector<Point>& points) {
  for (Placement placement : options.placements) {
    for (std::uint64_t seed : options.seeds) {
      const Configuration configuration{layers, placement, seed, scale};
      const bool known = std::any_of(points.begin(), points.end(), [&](const Point& point) {
        return point.configuration == configuration;
      });
      if (!known) points.push_back({configuration, {}});
    }
  }
}

Job job(const std::vector<std::size_t>& group, Measured& measured) {
  std::vector<Configuration> configurations;
  double layers = 0.0;
  for (std::size_t place : group) {
    configurations.push_back(measured.points[place].configuration);
    layers += static_cast<double>(configurations.back().layers);
  }
  return {layers, [&measured, group, configurations] {
            const auto results =
                measure_depths(measured.options.model, configurations, measured.tokens);
            for (std::size_t i = 0; i < group.size(); ++i) {
              measured.points[group[i]].measured = results[i];
            }
          }};
}

void check_between(const char* option, std::int64_t value, std::int64_t high) {
  normlab::check(value >= 1 && value <= high, kProgram, option,
                 fmt::format("must be from 1 to {}", high), [&] { return std::to_string(value); });
}

void check_scales(const std::vector<InputScale>& scales) {
  std::vector<double> values;
  for (const InputScale& scale : scales) {
    normlab::check(std::isfinite(scale.value) && scale.value > 0.0, kProgram, "--input-scale",
                   "must be positive numbers", scale.name);
    values.push_back(scale.value);
  }
  check_distinct(kProgram, "--input-scale", values, [&](double value) {
    std::string names;
    for (const InputScale& scale : scales) {
      if (scale.value == value) names += (names.empty() ? "" : " and ") + scale.name;
    }
    return fmt::format("{}, which are both {}", names, value);
  });
}

void check_sizes(const EncoderModel::Config& model, std::int64_t deepest) {
  check_heads(kProgram, model.d_model, model.nhead);
  check_between("--width", model.d_model, kMostWidth);
  check_between("--ffn", model.dim_feedforward, kMostWidth);
  const std::int64_t per_layer = 2 * model.d_model * (2 * model.d_model + model.dim_feedforward);
  normlab::check(
      deepest <= kMostWeights / per_layer, kProgram, "--layers",
      fmt::format("times {} weights per layer must be at most {} weights (a smaller --width, "
                  "--ffn or depth fits)",
                  per_layer, kMostWeights),
      [&] { return fmt::format("{} layers", deepest); });
  nn::norms().at(model.norm).make(model.d_model, {});  // one that does not take the width says so
}

}  // namespace

std::vector<InputScale> input_scales(const std::vector<std::string>& names, std::int64_t width) {
  std::vector<InputScale> scales;
  for (const std::string& name : names) {
    double value = name == "unit" ? 1.0 : 1.0 / std::sqrt(static_cast<double>(width));
    if (name != "unit" && name != "1/sqrt(d)") {
      const char* end = name.data() + name.size();
      const auto [rest, error] = std::from_chars(name.data(), end, value);
      normlab::check(error == std::errc() && rest == end, kProgram, "--input-scale",
                     "must be unit, 1/sqrt(d) or positive numbers",
                     name.empty() ? "nothing" : name);
    }
    scales.push_back({name, value});
  }
  return scales;
}

std::int64_t Options::checked_layers() const {
  return *std::min_element(layers.begin(), layers.end());
}

std::int64_t default_profile(const std::vector<std::int64_t>& layers) {
  const std::int64_t published = Options().profile_layers;
  const bool there = std::find(layers.begin(), layers.end(), published) != layers.end();
  return there || layers.empty() ? published : *std::max_element(layers.begin(), layers.end());
}

std::vector<Point> points(const Options& options) {
  std::vector<Point> points;
  add_points(options, options.profile_layers, options.scales.front().value, points);
  for (const InputScale& scale : options.scales) {
    for (std::int64_t layers : options.layers) add_points(options, layers, scale.value, points);
  }
  return points;
}

std::vector<std::vector<std::size_t>> groups(const std::vector<Point>& points) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t place = 0; place < points.size(); ++place) {
    Configuration configuration = points[place].configuration;
    const auto fits = [&](const std::vector<std::size_t>& group) {
      const Configuration& first = points[group.front()].configuration;
      configuration.layers = first.layers;
      return configuration == first && configuration.placement != Placement::deep_norm;
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

bool Measured::checks_passed() const {
  return norm_agreement.passed() &&
         std::all_of(finite_differences.begin(), finite_differences.end(),
                     [](const FiniteDifferenceCheck& check) { return check.passed(); });
}

bool Measured::all_finite() const {
  return std::all_of(points.begin(), points.end(),
                     [](const Point& point) { return point.measured.all_finite(); });
}

const GradientMeasurement& Measured::measurement(const Configuration& configuration) const {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.configuration == configuration;
  });
  normlab::check(found != points.end(), kProgram, "configuration", "must have been measured", [&] {
    return fmt::format("{} layers, seed {}", configuration.layers, configuration.seed);
  });
  return found->measured;
}

Configuration Measured::profile(Placement placement) const {
  return {options.profile_layers, placement, 0, options.scales.front().value};
}

std::vector<double> last_gradients(const Measured& measured, std::int64_t layers,
                                   Placement placement, double scale) {
  return over_seeds(measured, {layers, placement, 0, scale},
                    [](const GradientMeasurement& m) { return m.last_w2(); });
}

double times_root_depth(const std::vector<double>& last_gradients, std::int64_t layers) {
  return median(last_gradients) * std::sqrt(static_cast<double>(layers));
}

void check(const Options& options) {
  normlab::check(options.images >= 1, kProgram, "--images", "must be at least 1",
                 [&] { return std::to_string(options.images); });
  check_seeds(kProgram, options.seeds);
  check_distinct(kProgram, "--layers", options.layers);
  check_placements(kProgram, options.placements);
  check_scales(options.scales);
  std::int64_t deepest = options.profile_layers;
  for (std::int64_t layers : options.layers) {
    check_between("--layers", layers, kMostLayers);
    deepest = std::max(deepest, layers);
  }
  check_between("--profile-layers", options.profile_layers, kMostLayers);
  check_sizes(options.model, deepest);
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  const Digits digits = options.digits.empty() ? load_digits() : load_digits(options.digits);
  normlab::check(options.images <= digits.size(), kProgram, "--images",
                 fmt::format("must be at most {}, as many as there are", digits.size()),
                 [&] { return std::to_string(options.images); });
  Measured measured{options, tokens_of(digits.range(0, options.images)), {}, {}, points(options)};
  std::vector<Job> jobs;
  for (const auto& group : groups(measured.points)) jobs.push_back(job(group, measured));
  std::vector<std::vector<FiniteDifferenceCheck>> checks(options.placements.size());
  for (std::size_t i = 0; i < checks.size(); ++i) {
    constexpr double kPassesLike = 2.5;  // one with backward, four forward only
    jobs.push_back({kPassesLike * static_cast<double>(options.checked_layers()), [&, i] {
                      checks[i] =
                          check_finite_differences(options.model, options.placements[i],
                                                   options.checked_layers(), measured.tokens);
                    }});
  }
  jobs.push_back({0.1, [&] {
                    measured.norm_agreement = check_norm_agreement(options.model, measured.tokens);
                  }});
  run_jobs(jobs, run.threads, run.progress);
  for (const auto& placement : checks) {
    measured.finite_differences.insert(measured.finite_differences.end(), placement.begin(),
                                       placement.end());
  }
  return measured;
}

}  // namespace normlab::init_gradients
