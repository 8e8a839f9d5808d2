// The overlap of two softmaxes by quadrature. With S = sum of e^z over the classes, and S' of the
// other, all V classes alike,
//
//   E[softmax(z) . softmax(z')] = V E[ e^z1 e^z1' / (S S') ],    1/S = integral over s > 0 of
//   e^-sS.
//
// Under the two integrals over s = e^a and t = e^b the classes separate:
//
//   V  integral da db  G(a, b) H(a, b)^(V - 1)
//   H(a, b) = E exp(-e^(a + z) - e^(b + z')),   G(a, b) = E e^(a + z) e^(b + z') exp(-e^(a + z) -
//   ...)
//
// z and z' share a part k u and have one each of their own, m w: k^2 = variance * correlation,
// k^2 + m^2 = variance. So given u both are products of functions of one variable. Every integrand
// is smooth and vanishes at the ends, where the trapezoid rule converges exponentially.
// Tested by tests/experiments/theory/mean_field_theory_test.cpp.
#include "experiments/theory/mean_field_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/check.hpp"

namespace normlab {

namespace {

// Nodes and weights of E f(u), u standard normal.
struct NormalRule {
  std::vector<double> nodes, weights;
};

NormalRule normal_rule() {
  constexpr double kStep = 0.3, kEnd = 8.1;  // beyond: 1e-15
  NormalRule rule;
  for (double u = -kEnd; u <= kEnd; u += kStep) {
    rule.nodes.push_back(u);
    rule.weights.push_back(kStep * std::exp(-0.5 * u * u) / std::sqrt(2.0 * std::numbers::pi));
  }
  return rule;
}

// The two functions of one variable: E exp(-e^y) and E e^y exp(-e^y), y = x + m w.
struct ExpectedDecay {
  double plain, slope;
};

ExpectedDecay expected_decay(double x, double m, const NormalRule& rule) {
  if (m == 0.0) return {std::exp(-std::exp(x)), std::exp(x - std::exp(x))};
  ExpectedDecay sum{0.0, 0.0};
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double y = x + m * rule.nodes[i];
    sum.plain += rule.weights[i] * std::exp(-std::exp(y));
    sum.slope += rule.weights[i] * std::exp(y - std::exp(y));
  }
  return sum;
}

// The rows are the nodes of a, the columns those of u.
std::vector<std::vector<ExpectedDecay>> tabulate(const std::vector<double>& a, double k, double m,
                                                 const NormalRule& rule) {
  std::vector<std::vector<ExpectedDecay>> table;
  for (double logit : a) {
    auto& row = table.emplace_back();
    for (double u : rule.nodes) row.push_back(expected_decay(logit + k * u, m, rule));
  }
  return table;
}

}  // namespace

double relu_gate_kernel(double c) {
  return (std::numbers::pi - std::acos(std::clamp(c, -1.0, 1.0))) / std::numbers::pi;
}

double relu_value_kernel(double c) {
  c = std::clamp(c, -1.0, 1.0);
  return std::sqrt(1.0 - c * c) / std::numbers::pi + c * relu_gate_kernel(c);
}

double softmax_overlap(double correlation, double variance, std::int64_t classes) {
  check(correlation >= 0.0 && correlation <= 1.0, "softmax_overlap", "correlation",
        "must be from 0 to 1", [&] { return std::to_string(correlation); });
  check_at_least("softmax_overlap", "variance", variance, 0.0);
  check(classes >= 1, "softmax_overlap", "classes", "must be at least 1",
        [&] { return std::to_string(classes); });
  const auto count = static_cast<double>(classes);
  const double k = std::sqrt(variance * correlation), m = std::sqrt(variance * (1.0 - correlation));
  const NormalRule rule = normal_rule();
  // 1/S lives near a = -ln S, and G dies like e^a below, like exp(-a^2 / (2 variance)) above.
  constexpr double kStep = 0.4;
  std::vector<double> a;
  const double end = 4.0 + 8.0 * std::sqrt(variance);
  for (double value = -std::log(count) - variance - 22.0; value < end; value += kStep) {
    a.push_back(value);
  }
  const auto table = tabulate(a, k, m, rule);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double g = 0.0, h = 0.0;
      for (std::size_t u = 0; u < rule.nodes.size(); ++u) {
        g += rule.weights[u] * table[i][u].slope * table[j][u].slope;
        h += rule.weights[u] * table[i][u].plain * table[j][u].plain;
      }
      sum += (j < i ? 2.0 : 1.0) * g * std::pow(h, count - 1.0);  // symmetric in a and b
    }
  }
  return count * sum * kStep * kStep;
}

}  // namespace normlab
