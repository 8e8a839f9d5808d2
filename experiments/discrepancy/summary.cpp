// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/lab/stats/line_fit.hpp"

namespace normlab::discrepancy {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double mean(const std::vector<double>& values) { return estimate(values).mean; }

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

Estimate exponential(const Estimate& of_logarithm) {
  const double value = std::exp(of_logarithm.mean);
  return {value, value * of_logarithm.error};
}

double last_norm(const Measurement& m) { return m.w2_grad_norm.back(); }
double log_top_bottom(const Measurement& m) {
  return std::log(m.w2_grad_norm.back() / m.w2_grad_norm.front());
}

class Summarizer {
 public:
  explicit Summarizer(const Measured& result)
      : result_(result),
        deepest_(*std::max_element(result.options.layers.begin(), result.options.layers.end())) {}

  Summary summary(const Ablation& ablation, Placement placement) const {
    Summary s{};
    s.ablation = ablation;
    s.placement = placement;
    for (const std::int64_t layers : result_.options.layers) {
      s.last_norm.push_back(geometric(over_seeds(result_, ablation, placement, layers, last_norm)));
    }
    const std::vector<double> exponents = exponents_of(ablation, placement);
    const std::vector<double> ratios = log_ratios_of(ablation, placement);
    s.exponent = estimate(exponents);
    s.top_bottom = exponential(estimate(ratios));
    s.exponent_change = s.top_bottom_factor = {kNaN, kNaN};
    if (const Ablation* base = base_of(ablation)) {
      s.exponent_change = estimate(differences(exponents, exponents_of(*base, placement)));
      s.top_bottom_factor =
          exponential(estimate(differences(ratios, log_ratios_of(*base, placement))));
    }
    add_deepest(s);
    return s;
  }

 private:
  const Ablation* base_of(const Ablation& ablation) const {
    for (const Ablation& base : result_.options.ablations) {
      if (base.name == ablation.base) return &base;
    }
    return nullptr;
  }

  std::vector<double> exponents_of(const Ablation& ablation, Placement placement) const {
    std::vector<double> log_depths, exponents;
    for (const std::int64_t layers : result_.options.layers) {
      log_depths.push_back(std::log(static_cast<double>(layers)));
    }
    for (const std::uint64_t seed : result_.options.seeds_of(ablation)) {
      std::vector<double> norms;
      for (const std::int64_t layers : result_.options.layers) {
        norms.push_back(last_norm(result_.measurement({ablation.name, placement, layers, seed})));
      }
      exponents.push_back(fit_line(log_depths, logarithms(norms)).slope);
    }
    return exponents;
  }

  std::vector<double> log_ratios_of(const Ablation& ablation, Placement placement) const {
    return over_seeds(result_, ablation, placement, result_.options.profile_layers(),
                      log_top_bottom);
  }

  // Both lists start with the first of the run's seeds, in order; one may be longer.
  static std::vector<double> differences(const std::vector<double>& a,
                                         const std::vector<double>& b) {
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) all.push_back(a[i] - b[i]);
    return all;
  }

  void add_deepest(Summary& s) const {
    const auto average = [&](auto number) {
      return mean(over_seeds(result_, s.ablation, s.placement, deepest_, number));
    };
    const auto last = static_cast<std::size_t>(deepest_ - 1);
    const double square = average([&](const auto& m) { return m.square[last]; });
    s.self = average([&](const auto& m) { return m.self[last]; }) / square;
    s.same_sequence = average([&](const auto& m) { return m.same_sequence[last]; }) / square;
    s.across_sequences = 1.0 - s.self - s.same_sequence;
    s.similarity_within = average([&](const auto& m) { return m.similarity_within[last]; });
    s.similarity_across = average([&](const auto& m) { return m.similarity_across[last]; });
  }

  const Measured& result_;
  std::int64_t deepest_;
};

}  // namespace

Estimate geometric(const std::vector<double>& values) {
  return exponential(estimate(logarithms(values)));
}

std::vector<Summary> summaries(const Measured& result) {
  const Summarizer summarizer(result);
  std::vector<Summary> all;
  for (const Placement placement : {Placement::post, Placement::pre}) {
    for (const Ablation& ablation : result.options.ablations)
      all.push_back(summarizer.summary(ablation, placement));
  }
  return all;
}

}  // namespace normlab::discrepancy
