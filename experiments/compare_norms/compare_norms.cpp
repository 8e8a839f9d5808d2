// Tested by tests/experiments/compare_norms/compare_norms_test.cpp.
#include "experiments/compare_norms/compare_norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/runs/grid.hpp"
#include "experiments/untrained/gradient_json.hpp"
#include "nn/conformance/gradient_error.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::compare_norms {

namespace {

constexpr const char* kProgram = "compare_norms";
using Json = nlohmann::ordered_json;

Json key_of(const Point& point) {
  return {{"norm", point.norm},
          {"placement", name(point.configuration.placement)},
          {"layers", point.configuration.layers},
          {"seed", point.configuration.seed}};
}

double stream_per_block(const GradientMeasurement& m) {
  const std::vector<double>& stream = m.stream_sq_norm_per_d;
  if (stream.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  return (stream.back() - stream.front()) / static_cast<double>(stream.size() - 1);
}

double stream_exponent(const GradientMeasurement& m) {
  std::vector<double> log_block, log_size;
  for (std::size_t i = 0; i < m.stream_sq_norm_per_d.size(); ++i) {
    log_block.push_back(std::log(static_cast<double>(i + 1)));
    log_size.push_back(std::log(m.stream_sq_norm_per_d[i]));
  }
  return fit_line(log_block, log_size).slope;
}

// The points of one norm in one placement; there is at least one.
Summary summary_of(const std::vector<const Point*>& points, std::int64_t deepest) {
  const auto over_seeds = [&](auto number) {
    std::vector<double> numbers;
    for (const Point* point : points) {
      if (point->configuration.layers == deepest) numbers.push_back(number(point->measured));
    }
    return numbers;
  };
  std::vector<double> log_depth, log_gradient;
  for (const Point* point : points) {
    log_depth.push_back(std::log(static_cast<double>(point->configuration.layers)));
    log_gradient.push_back(std::log(point->measured.last_w2()));
  }
  using M = GradientMeasurement;
  return {.norm = points.front()->norm,
          .placement = points.front()->configuration.placement,
          .first = spread(over_seeds([](const M& m) { return m.w2_grad_norm.front(); })),
          .last = spread(over_seeds([](const M& m) { return m.last_w2(); })),
          .ratio = spread(over_seeds([](const M& m) { return m.w2_last_over_first(); })),
          .depth = fit_line(log_depth, log_gradient),
          .stream_per_block = median(over_seeds(stream_per_block)),
          .stream_exponent = median(over_seeds(stream_exponent)),
          .loss = spread(over_seeds([](const M& m) { return m.loss; }))};
}

// Whatever is measured with a wrong gradient means nothing.
void check_gradient(const NormEntry& entry) {
  constexpr std::int64_t kWidth = 16;
  const double error = gradient_error(entry, sample_tokens(kWidth));
  normlab::check(error < kLargestGradientError, kProgram, "--norm",
                 "must have the gradient of its value (norm_card tells more)", [&] {
                   return fmt::format("{}, whose relative error is {:.1e}", entry.name, error);
                 });
}

}  // namespace

std::int64_t Options::deepest() const { return *std::max_element(layers.begin(), layers.end()); }

Options everything_registered() {
  Options options;
  options.norms = nn::norms().names();
  for (const PlacementEntry& entry : nn::placements()) {
    options.placements.push_back(entry.placement);
  }
  return options;
}

void check(const Options& options) {
  check_heads(kProgram, options.width, options.heads);
  check_distinct(kProgram, "--norm", options.norms);
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--layers", options.layers);
  check_seeds(kProgram, options.seeds);
  for (std::int64_t layers : options.layers) {
    normlab::check(layers >= 1, kProgram, "--layers", "must be at least 1",
                   [&] { return std::to_string(layers); });
  }
  for (const std::string& norm : options.norms) {
    const NormEntry& entry = nn::norms().at(norm);
    entry.make(options.width, {});  // a norm that does not take the width says so here
    check_gradient(entry);
  }
}

std::vector<Point> points_of(const Options& options) {
  std::vector<Point> points;
  for (Placement placement : options.placements) {
    for (const std::string& norm : options.norms) {
      if (placement == Placement::re_zero && norm != options.norms.front()) continue;
      for (std::int64_t layers : options.layers) {
        for (std::uint64_t seed : options.seeds) {
          points.push_back({norm, {layers, placement, seed, 1.0}});
        }
      }
    }
  }
  return points;
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  const Tokens tokens = tokens_of(load_digits().range(0, options.images));
  Measured measured{options, points_of(options)};
  lab::GridSteps<Point> steps;
  steps.cost = [](const Point& point) { return static_cast<double>(point.configuration.layers); };
  steps.measure = [&](Point& point) {
    const EncoderModel::Config model{.d_model = options.width,
                                     .nhead = options.heads,
                                     .dim_feedforward = options.ffn,
                                     .norm = point.norm};
    point.measured = measure_gradients(model, point.configuration, tokens);
  };
  steps.header = {{"experiment", kProgram}, {"version", NORMLAB_VERSION},
                  {"width", options.width}, {"heads", options.heads},
                  {"ffn", options.ffn},     {"images", options.images}};
  steps.key = key_of;
  steps.write = [](const Point& point) { return json_of(point.measured); };
  steps.read = [](const Json& json, Point& point) {
    point.measured = measurement_from(json, point.configuration.layers);
  };
  run_grid(measured.points, run, steps);
  return measured;
}

std::vector<Summary> summaries(const Measured& measured) {
  std::vector<Summary> rows;
  for (Placement placement : measured.options.placements) {
    for (const std::string& norm : measured.options.norms) {
      std::vector<const Point*> points;
      for (const Point& point : measured.points) {
        if (point.norm == norm && point.configuration.placement == placement)
          points.push_back(&point);
      }
      if (!points.empty()) rows.push_back(summary_of(points, measured.options.deepest()));
    }
  }
  return rows;
}

}  // namespace normlab::compare_norms
