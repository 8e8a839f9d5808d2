// The networks that the claims are about. Tested by tests/experiments/lemmas/lemmas_test.cpp.
#include "experiments/lemmas/lemmas.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/runs/grid.hpp"

namespace normlab::lemmas {

namespace {

constexpr const char* kProgram = "lemmas";
constexpr std::int64_t kMostWeights = std::int64_t{1} << 28;  // of one network

void check_list(const char* option, const std::vector<std::int64_t>& values, std::int64_t least) {
  normlab::check(values.size() >= 2, kProgram, option, "must name at least two, to fit an exponent",
                 [&] { return std::to_string(values.size()); });
  check_distinct(kProgram, option, values);
  for (std::int64_t value : values) {
    normlab::check(value >= least, kProgram, option, fmt::format("must be at least {}", least),
                   [&] { return std::to_string(value); });
  }
}

void check_size(const char* option, std::int64_t layers, std::int64_t width) {
  normlab::check(layers <= kMostWeights / (3 * width * width), kProgram, option,
                 fmt::format("must make networks of at most {} weights", kMostWeights),
                 [&] { return fmt::format("{} layers of width {}", layers, width); });
}

std::vector<Point> points(const Options& options) {
  std::vector<Point> points;
  for (Axis axis : {Axis::depth, Axis::width}) {
    for (Placement placement : {Placement::post, Placement::pre}) {
      for (std::int64_t value : values(options, axis)) {
        const std::int64_t layers = axis == Axis::depth ? value : kDepthOfWidths;
        const std::int64_t width = axis == Axis::depth ? options.setting.width : value;
        for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
          points.push_back({axis, placement, layers, width, static_cast<std::uint64_t>(seed)});
        }
      }
    }
  }
  return points;
}

double expected_last_w2(const MeanFieldSetting& setting) {
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  return std::sqrt(expected_gradients(setting, blocks, output_gradient(setting, blocks)).w2.back());
}

// The seeds of one network follow one another, and share the theory.
void add_theory(Measured& measured) {
  std::vector<Point>& points = measured.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point& point = points[i];
    point.expected_last_w2 = point.seed > 0
                                 ? points[i - 1].expected_last_w2
                                 : expected_last_w2(setting(measured.options, point.placement,
                                                            point.layers, point.width));
  }
}

}  // namespace

std::int64_t Options::deepest() const { return *std::max_element(depths.begin(), depths.end()); }
std::int64_t Options::widest() const { return *std::max_element(widths.begin(), widths.end()); }

void check(const Options& options) {
  normlab::check(options.seeds >= 3, kProgram, "--seeds", "must be at least 3, to tell a spread",
                 [&] { return std::to_string(options.seeds); });
  check_list("--layers", options.depths, 1);
  check_list("--widths", options.widths, 3);
  const PairMoments& input = options.setting.input;
  normlab::check(input.within >= 0.0 && input.within <= input.same, kProgram, "--input-correlation",
                 "must be from 0 to 1", [&] { return fmt::format("{}", input.within); });
  check_size("--layers", options.deepest(), options.setting.width);
  check_size("--widths", kDepthOfWidths, options.widest());
}

const std::vector<std::int64_t>& values(const Options& options, Axis axis) {
  return axis == Axis::depth ? options.depths : options.widths;
}

double Point::last_w2() const { return std::sqrt(measured.gradients.w2.back()); }

MeanFieldSetting setting(const Options& options, Placement placement, std::int64_t layers,
                         std::int64_t width) {
  MeanFieldSetting setting = options.setting;
  setting.placement = placement;
  setting.layers = layers;
  setting.width = setting.ffn = width;
  return setting;
}

std::vector<const Point*> Measured::seeds(Axis axis, Placement placement,
                                          std::int64_t value) const {
  std::vector<const Point*> seeds;
  for (const Point& point : points) {
    if (point.axis == axis && point.placement == placement && point.value() == value) {
      seeds.push_back(&point);
    }
  }
  return seeds;
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  Measured measured{options, points(options)};
  lab::GridSteps<Point> steps;
  steps.cost = [](const Point& point) {
    return static_cast<double>(point.layers * point.width * point.width);
  };
  steps.measure = [&](Point& point) {
    point.measured = measure_simplified(
        setting(options, point.placement, point.layers, point.width), point.seed);
  };
  run_grid(measured.points, run, steps);
  add_theory(measured);
  return measured;
}

}  // namespace normlab::lemmas
