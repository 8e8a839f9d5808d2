// The declared invariances of a norm, measured at its initialization in train mode.
// Tested by tests/nn/conformance/conformance_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/kernels/map.hpp"
#include "core/random.hpp"
#include "nn/conformance/conformance_checks.hpp"

namespace normlab::conformance {

namespace {

using Function = std::function<Tensor(const Tensor&)>;

// One random number per token, drawn by `draw` from a generator.
template <typename Draw>
std::vector<double> per_token(const Tensor& x, Draw draw) {
  Generator generator(5);
  std::vector<double> numbers(static_cast<std::size_t>(x.rows()));
  for (double& number : numbers) number = draw(generator);
  return numbers;
}

double root_mean_square(const Tensor& x) {
  return norm(x) / std::sqrt(static_cast<double>(x.numel()));
}

double shift_violation(const Function& f, const Tensor& x) {
  const double size = 3.0 * root_mean_square(x);
  const auto c = per_token(x, [size](Generator& g) { return size * g.normal(); });
  const std::int64_t tokens = x.shape()[1];
  return distance(
      f(map_tokens(x, [&](std::int64_t n, std::int64_t t, std::int64_t,
                          double v) { return v + c[static_cast<std::size_t>(n * tokens + t)]; })),
      f(x));
}

double scale_violation(const Function& f, const Tensor& x) {
  const auto s = per_token(x, [](Generator& g) { return std::exp2(4.0 * g.uniform() - 1.0); });
  const std::int64_t tokens = x.shape()[1];
  return distance(
      f(map_tokens(x, [&](std::int64_t n, std::int64_t t, std::int64_t,
                          double v) { return v * s[static_cast<std::size_t>(n * tokens + t)]; })),
      f(x));
}

double odd_violation(const Function& f, const Tensor& x) {
  return distance(f(map(x, std::negate<>{})), map(f(x), std::negate<>{}));
}

double permutation_violation(const Function& f, const Tensor& x) {
  const std::vector<std::int64_t> source = Generator(5).permutation(x.width());
  const auto permuted = [&](const Tensor& y) {
    return map_tokens(y, [&](std::int64_t n, std::int64_t t, std::int64_t j, double) {
      return y.at({n, t, source[static_cast<std::size_t>(j)]});
    });
  };
  return distance(f(permuted(x)), permuted(f(x)));
}

// Changes the elements of x for which belongs(n, t, j) holds and compares the outputs at the other
// elements.
template <typename Belongs>
double dependence(const Function& f, const Tensor& x, Belongs belongs) {
  const double size = root_mean_square(x);
  const auto others = [&](const Tensor& y) {
    return map_tokens(y, [&](std::int64_t n, std::int64_t t, std::int64_t j, double v) {
      return belongs(n, t, j) ? 0.0 : v;
    });
  };
  const Tensor changed =
      map_tokens(x, [&](std::int64_t n, std::int64_t t, std::int64_t j, double v) {
        return belongs(n, t, j) ? 2.0 * size * std::cos(static_cast<double>(3 * t + j)) - v : v;
      });
  return distance(others(f(changed)), others(f(x)));
}

double token_violation(const Function& f, const Tensor& x) {
  const std::int64_t last = x.shape()[1] - 1;
  return dependence(
      f, x, [last](std::int64_t n, std::int64_t t, std::int64_t) { return n == 0 && t == last; });
}

double batch_violation(const Function& f, const Tensor& x) {
  return dependence(f, x, [](std::int64_t n, std::int64_t, std::int64_t) { return n == 0; });
}

double feature_violation(const Function& f, const Tensor& x) {
  return dependence(f, x, [](std::int64_t, std::int64_t, std::int64_t j) { return j == 0; });
}

struct Invariance {
  const char* name;
  bool NormProperties::*declared;
  double (*violation)(const Function&, const Tensor&);
};

constexpr Invariance kInvariances[] = {
    {"shift", &NormProperties::shift_invariant, shift_violation},
    {"positive scale", &NormProperties::scale_invariant, scale_violation},
    {"odd", &NormProperties::odd, odd_violation},
    {"token independence", &NormProperties::token_independent, token_violation},
    {"batch independence", &NormProperties::batch_independent, batch_violation},
    {"feature independence", &NormProperties::feature_independent, feature_violation},
    {"permutation of features", &NormProperties::permutation_equivariant, permutation_violation}};

// Scale invariance holds only up to eps: an eps of 1e-5 is visible for an input of size 1, and
// below rounding for one of size 1e4.
struct Input {
  const char* name;
  Tensor x;
  double scale_tolerance;
};

constexpr double kHolds = 1e-9, kHoldsUpToEps = 1e-3, kDoesNotHold = 1e-3;

std::vector<Input> inputs() {
  return {{"(2, 3, 8)", well_scaled_input({2, 3, 8}), kHoldsUpToEps},
          {"(3, 4, 5)", well_scaled_input({3, 4, 5}, 2), kHoldsUpToEps},
          {"(2, 3, 1)", well_scaled_input({2, 3, 1}, 3), kHoldsUpToEps},
          {"(2, 3, 8) times 1e4", well_scaled_input({2, 3, 8}, 4, 1e4), kHolds}};
}

double tolerance(const Invariance& invariance, const Input& input) {
  const bool is_scale = invariance.declared == &NormProperties::scale_invariant;
  return is_scale ? input.scale_tolerance : kHolds;
}

double measure(const NormEntry& entry, const Invariance& invariance, const Tensor& x) {
  const Function f = [&](const Tensor& in) {
    return evaluate(*make_layer(entry.make, in.width()), in);
  };
  return invariance.violation(f, x);
}

void check_declared(const NormEntry& entry, const Invariance& invariance, Report& report) {
  for (const Input& input : inputs()) {
    report.guarded(invariance.name, input.name, [&] {
      const double violation = measure(entry, invariance, input.x);
      const double bound = tolerance(invariance, input);
      report.add(invariance.name, input.name, violation <= bound,
                 fmt::format("declared; violation {:.2e}, at most {:.0e}", violation, bound));
    });
  }
}

void check_undeclared(const NormEntry& entry, const Invariance& invariance, Report& report) {
  report.guarded(invariance.name, "all inputs", [&] {
    double violation = 0.0;
    for (const Input& input : inputs()) {
      violation = std::max(violation, measure(entry, invariance, input.x));
    }
    report.add(invariance.name, "all inputs", violation > kDoesNotHold,
               fmt::format("not declared; largest violation {:.2e}, should be above {:.0e}",
                           violation, kDoesNotHold));
  });
}

}  // namespace

void check_invariances(const NormEntry& entry, Report& report) {
  for (const Invariance& invariance : kInvariances) {
    entry.properties.*invariance.declared ? check_declared(entry, invariance, report)
                                          : check_undeclared(entry, invariance, report);
  }
}

}  // namespace normlab::conformance

namespace normlab {

std::vector<MeasuredInvariance> measure_invariances(const NormEntry& entry) {
  std::vector<MeasuredInvariance> all;
  for (const conformance::Invariance& invariance : conformance::kInvariances) {
    MeasuredInvariance measured{invariance.name, entry.properties.*invariance.declared, 0.0};
    for (const conformance::Input& input : conformance::inputs()) {
      measured.violation =
          std::max(measured.violation, conformance::measure(entry, invariance, input.x));
    }
    all.push_back(measured);
  }
  return all;
}

}  // namespace normlab
