// Tested by tests/experiments/compare_norms/compare_norms_test.cpp.
#include "experiments/compare_norms/compare_norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "compare_norms";

EncoderModel::Config model_of(const CompareNormsOptions& options, const std::string& norm) {
  return {.d_model = options.width,
          .nhead = options.heads,
          .dim_feedforward = options.ffn,
          .norm = norm};
}

// The measurements of one norm in one placement.
class Group {
 public:
  Group(const CompareNormsResult& result, const std::string& norm, Placement placement)
      : deepest_(*std::max_element(result.options.layers.begin(), result.options.layers.end())) {
    for (const ComparedCell& each : result.cells) {
      if (each.norm == norm && each.cell.placement == placement) cells_.push_back(&each);
    }
  }

  bool empty() const { return cells_.empty(); }

  // One number per seed.
  template <typename F>
  std::vector<double> of_deepest(F number) const {
    std::vector<double> numbers;
    for (const ComparedCell* each : cells_) {
      if (each->cell.layers == deepest_) numbers.push_back(number(each->measured));
    }
    return numbers;
  }

  LineFit depth_fit() const {
    std::vector<double> log_depth, log_gradient;
    for (const ComparedCell* each : cells_) {
      log_depth.push_back(std::log(static_cast<double>(each->cell.layers)));
      log_gradient.push_back(std::log(each->measured.w2_grad_norm.back()));
    }
    return fit_line(log_depth, log_gradient);
  }

 private:
  std::int64_t deepest_;
  std::vector<const ComparedCell*> cells_;
};

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

ComparedNorm summarize(const Group& group, const std::string& norm, Placement placement) {
  using M = GradientMeasurement;
  return {.norm = norm,
          .placement = placement,
          .first = spread(group.of_deepest([](const M& m) { return m.w2_grad_norm.front(); })),
          .last = spread(group.of_deepest([](const M& m) { return m.w2_grad_norm.back(); })),
          .ratio = spread(group.of_deepest(
              [](const M& m) { return m.w2_grad_norm.back() / m.w2_grad_norm.front(); })),
          .depth = group.depth_fit(),
          .stream_per_block = median(group.of_deepest(stream_per_block)),
          .stream_exponent = median(group.of_deepest(stream_exponent)),
          .loss = spread(group.of_deepest([](const M& m) { return m.loss; }))};
}

}  // namespace

CompareNormsOptions compare_all_norms() {
  CompareNormsOptions options;
  options.norms = nn::norms().names();
  for (const PlacementEntry& each : nn::placements()) options.placements.push_back(each.placement);
  return options;
}

void check_options(const CompareNormsOptions& options) {
  check_heads(kProgram, options.width, options.heads);
  check_distinct(kProgram, "--norm", options.norms);
  check_placements(kProgram, options.placements);
  check_distinct(kProgram, "--layers", options.layers);
  check_seeds(kProgram, options.seeds);
  for (std::int64_t layers : options.layers) {
    check(layers >= 1, kProgram, "--layers", "must be at least 1",
          [&] { return std::to_string(layers); });
  }
  // A norm that does not take the width says so here.
  for (const std::string& norm : options.norms) nn::norms().at(norm).make(options.width, {});
}

std::vector<ComparedCell> needed_cells(const CompareNormsOptions& options) {
  std::vector<ComparedCell> cells;
  for (Placement placement : options.placements) {
    for (const std::string& norm : options.norms) {
      if (placement == Placement::re_zero && norm != options.norms.front()) continue;
      for (std::int64_t layers : options.layers) {
        for (std::uint64_t seed : options.seeds) {
          cells.push_back({norm, {layers, placement, seed, 1.0}});
        }
      }
    }
  }
  return cells;
}

void measure_cells(const CompareNormsOptions& options, const Digits& digits, int threads,
                   std::vector<ComparedCell>& cells,
                   const std::function<void(const ComparedCell&)>& finished,
                   const JobProgress& progress) {
  check_options(options);
  check(options.images >= 2 && options.images <= digits.size(), kProgram, "--images",
        fmt::format("must be from 2 to {}, as many as there are", digits.size()),
        [&] { return std::to_string(options.images); });
  const Tokens tokens = tokens_of(digits.range(0, options.images));
  std::mutex one_at_a_time;
  std::vector<Job> jobs;
  for (ComparedCell& each : cells) {
    if (each.known) continue;
    jobs.push_back({static_cast<double>(each.cell.layers), [&] {
                      each.measured =
                          measure_gradients(model_of(options, each.norm), each.cell, tokens);
                      each.known = true;
                      const std::lock_guard lock(one_at_a_time);
                      if (finished) finished(each);
                    }});
  }
  run_jobs(jobs, threads, progress);
}

std::vector<ComparedNorm> CompareNormsResult::summary() const {
  std::vector<ComparedNorm> rows;
  for (Placement placement : options.placements) {
    for (const std::string& norm : options.norms) {
      const Group group(*this, norm, placement);
      if (!group.empty()) rows.push_back(summarize(group, norm, placement));
    }
  }
  return rows;
}

bool CompareNormsResult::all_finite() const {
  return std::all_of(cells.begin(), cells.end(),
                     [](const ComparedCell& each) { return each.measured.all_finite(); });
}

}  // namespace normlab
