// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/discrepancy.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/discrepancy/measurement.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/runs/grid.hpp"

namespace normlab::discrepancy {

namespace {

constexpr const char* kName = "discrepancy";
using Json = nlohmann::ordered_json;

// The setup is a part of the key: what an ablation of this name with another setup left in a log is
// not this configuration.
Json key_of(const Point& point) {
  return {{"ablation", point.configuration.ablation},
          {"placement", name(point.configuration.placement)},
          {"layers", point.configuration.layers},
          {"seed", point.configuration.seed},
          {"setup", json_of(point.setup)}};
}

}  // namespace

std::int64_t Options::profile_layers() const {
  constexpr std::int64_t kUsual = 12;
  return std::find(layers.begin(), layers.end(), kUsual) != layers.end()
             ? kUsual
             : *std::max_element(layers.begin(), layers.end());
}

std::vector<std::uint64_t> Options::seeds_of(const Ablation& ablation) const {
  if (!is_large(ablation.setup)) return seeds;
  const auto count = std::min(seeds.size(), static_cast<std::size_t>(large_seeds));
  return {seeds.begin(), seeds.begin() + static_cast<std::ptrdiff_t>(count)};
}

int Options::parts_of(const Setup& setup, std::int64_t depth) const {
  return setup.sequences > 1 && depth * setup.width * setup.width >= split_from ? 2 : 1;
}

void check(const Options& options) {
  std::vector<std::string> names;
  for (const Ablation& ablation : options.ablations) names.push_back(ablation.name);
  check_distinct(kName, "--ablations", names);
  check_distinct(kName, "--layers", options.layers);
  normlab::check(options.layers.size() >= 2, kName, "--layers",
                 "must be two or more, for an exponent",
                 [&] { return std::to_string(options.layers.front()); });
  normlab::check(*std::min_element(options.layers.begin(), options.layers.end()) >= 1, kName,
                 "--layers", "must be at least 1", "0");
  check_seeds(kName, options.seeds);
  normlab::check(options.large_seeds >= 1, kName, "--large-seeds", "must be at least 1",
                 [&] { return std::to_string(options.large_seeds); });
}

std::vector<Point> points_of(const Options& options) {
  std::vector<Point> points;
  for (const Ablation& ablation : options.ablations) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      for (const std::int64_t layers : options.layers) {
        for (const std::uint64_t seed : options.seeds_of(ablation)) {
          points.push_back({{ablation.name, placement, layers, seed}, ablation.setup});
        }
      }
    }
  }
  return points;
}

const Measurement& Measured::measurement(const Configuration& configuration) const {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.configuration == configuration;
  });
  normlab::check(found != points.end(), kName, "configuration", "must have been measured", [&] {
    return fmt::format("{}, {} layers, seed {}", configuration.ablation, configuration.layers,
                       configuration.seed);
  });
  return found->measured;
}

bool Measured::all_finite() const {
  return std::all_of(points.begin(), points.end(), [](const Point& point) {
    const std::vector<double>& norms = point.measured.w2_grad_norm;
    return std::all_of(norms.begin(), norms.end(), [](double v) { return std::isfinite(v); });
  });
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  Measured measured{options, points_of(options)};
  const auto parts = [&](const Point& point) {
    return options.parts_of(point.setup, point.configuration.layers);
  };
  lab::GridSteps<Point> steps;
  steps.parts = parts;
  steps.cost = [&](const Point& point) {
    return cost_of_part(point.setup, point.configuration, parts(point));
  };
  for (Point& point : measured.points) point.parts.resize(static_cast<std::size_t>(parts(point)));
  steps.measure_part = [](Point& point, int part) {
    point.parts[static_cast<std::size_t>(part)] =
        measure_part(point.setup, point.configuration, part, static_cast<int>(point.parts.size()));
  };
  steps.measure = [](Point& point) {
    point.measured = join(point.parts);
    point.parts = {};
  };
  steps.header = {{"experiment", kName}, {"version", NORMLAB_VERSION}};
  steps.key = key_of;
  steps.write = [](const Point& point) { return json_of(point.measured); };
  steps.read = [](const Json& json, Point& point) {
    point.measured = measurement_from(json, point.configuration.layers);
  };
  run_grid(measured.points, run, steps);
  return measured;
}

}  // namespace normlab::discrepancy
