// Tested by tests/nn/optim/learning_rate_test.cpp.
#include "nn/optim/learning_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "LearningRate";

const std::array<std::pair<Decay, std::string>, 5> kNames{{{Decay::constant, "constant"},
                                                           {Decay::linear, "linear"},
                                                           {Decay::cosine, "cosine"},
                                                           {Decay::inverse_sqrt, "inverse-sqrt"},
                                                           {Decay::step, "step"}}};

void check_count(std::string_view field, std::int64_t count, std::int64_t least) {
  check(count >= least, kOp, field, fmt::format("must be at least {}", least),
        [&] { return std::to_string(count); });
}

}  // namespace

const std::string& name(Decay decay) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const auto& entry) { return entry.first == decay; })
      ->second;
}

std::vector<std::string> decay_names() {
  std::vector<std::string> names;
  for (const auto& [decay, text] : kNames) names.push_back(text);
  return names;
}

Decay decay_of(const std::string& text) {
  for (const auto& [decay, candidate] : kNames) {
    if (candidate == text) return decay;
  }
  fail(kOp, "decay", fmt::format("must be one of {}", fmt::join(decay_names(), ", ")), text);
}

double LearningRate::at(std::int64_t step) const {
  check_at_least(kOp, "peak", peak, 0.0);
  check_count("warmup", warmup, 0);
  check_count("step", step, 1);
  const std::int64_t w = std::max<std::int64_t>(warmup, 1);
  if (decay == Decay::linear || decay == Decay::cosine) check_count("total", total, w);
  if (step <= w) return peak * static_cast<double>(step) / static_cast<double>(w);
  const auto since = static_cast<double>(step - w);
  switch (decay) {
    case Decay::constant:
      return peak;
    case Decay::linear:
      return peak * (1.0 - std::min(1.0, since / static_cast<double>(total - w + 1)));
    case Decay::cosine: {
      const double p = std::min(1.0, since / static_cast<double>(total - w + 1));
      return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * p));
    }
    case Decay::inverse_sqrt:
      return peak * std::sqrt(static_cast<double>(w) / static_cast<double>(step));
    case Decay::step:
      check_count("every", every, 1);
      check_at_least(kOp, "factor", factor, 0.0);
      return peak * std::pow(factor, static_cast<double>((step - w) / every));
  }
  fail_misuse(kOp, "decay", "must be one of the enumerators", "another value");
}

}  // namespace normlab
