// Tokens at the ends of the range of doubles, and how far a NaN spreads.
// Tested by tests/nn/conformance/conformance_test.cpp.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/kernels/map.hpp"
#include "nn/conformance/conformance_checks.hpp"

namespace normlab::conformance {

namespace {

const Shape kShape{3, 4, 6};

Tensor with_first_token(const Tensor& x, double value) {
  return map_tokens(x, [value](std::int64_t n, std::int64_t t, std::int64_t, double v) {
    return n == 0 && t == 0 ? value : v;
  });
}

Tensor times(const Tensor& x, double factor) {
  return map(x, [factor](double v) { return v * factor; });
}

std::string not_finite(const Pass& pass) {
  std::string names;
  const auto note = [&](const std::string& name, const Tensor& x) {
    if (!all_finite(x)) names += (names.empty() ? "" : ", ") + name;
  };
  note("output", pass.value);
  note("gradient of x", pass.input_gradient);
  for (const auto& [name, gradient] : pass.parameter_gradients) {
    if (gradient.defined()) note("gradient of " + name, gradient);
  }
  return names;
}

void check_finite(const NormEntry& entry, const std::string& where, const Tensor& x,
                  Report& report) {
  report.guarded("finite", where, [&] {
    const auto layer = with_random_parameters(entry.make, x.width());
    const std::string names = not_finite(run_pass(*layer, x));
    report.add("finite", where, names.empty(),
               names.empty() ? "output and all gradients are finite" : "not finite: " + names);
  });
}

// Squares of 1e200 overflow. A norm that forms them returns zeros, which are finite, so the value
// is checked, too: for a scale-invariant norm it is known.
void check_huge(const NormEntry& entry, Report& report) {
  const std::string where = "tokens times 1e200";
  const Tensor x = well_scaled_input(kShape), huge = times(x, 1e200);
  check_finite(entry, where, huge, report);
  report.guarded("value", where, [&] {
    const auto layer = with_random_parameters(entry.make, x.width());
    const Tensor y = evaluate(*layer, huge);
    if (entry.properties.scale_invariant) {
      report.add_at_most("value", where, distance(y, evaluate(*layer, times(x, 1e4))), 1e-9);
    } else {
      const double size = norm(y);
      report.add("value", where, size > 0.0, fmt::format("size {:.2e}, should not be 0", size));
    }
  });
}

// The offset rounds x to x' = (x + 1e8) - 1e8, which is computed exactly. A norm of x + 1e8 may
// then differ from the norm of x' by rounding only, about 1e-8; a variance computed as the
// difference of two squares would be entirely wrong.
void check_offset(const NormEntry& entry, Report& report) {
  const std::string where = "tokens plus 1e8";
  const Tensor offset = map(well_scaled_input(kShape), [](double v) { return v + 1e8; });
  check_finite(entry, where, offset, report);
  if (!entry.properties.shift_invariant) return;
  report.guarded("value", where, [&] {
    const auto layer = with_random_parameters(entry.make, offset.width());
    const Tensor rounded = map(offset, [](double v) { return v - 1e8; });
    const Pass a = run_pass(*layer, offset), b = run_pass(*layer, rounded);
    report.add_at_most("value", where, distance(a.value, b.value), 1e-6);
    report.add_at_most("gradient of x", where, distance(a.input_gradient, b.input_gradient), 1e-6);
  });
}

// Elements that the NaN may not reach are the same as without it, in the output and in the input
// gradient; and the output at its place is NaN.
void check_reach(const NormEntry& entry, const Tensor& clean, Report& report) {
  const NormProperties& declared = entry.properties;
  const auto reached = [&](std::int64_t n, std::int64_t t, std::int64_t j) {
    return !((declared.batch_independent && n != 0) ||
             (declared.token_independent && (n != 0 || t != 0)) ||
             (declared.feature_independent && j != 0));
  };
  const auto elsewhere = [&](const Tensor& y) {
    return map_tokens(y, [&](std::int64_t n, std::int64_t t, std::int64_t j, double v) {
      return reached(n, t, j) ? 0.0 : v;
    });
  };
  Tensor x = clean;
  x.mutable_data()[0] = std::numeric_limits<double>::quiet_NaN();
  const Pass with_nan = run_pass(*with_random_parameters(entry.make, x.width()), x);
  const Pass without = run_pass(*with_random_parameters(entry.make, x.width()), clean);
  const std::string where = "a NaN in token 0, feature 0";
  report.add_at_most("NaN stays where it may be", where,
                     distance(elsewhere(with_nan.value), elsewhere(without.value)), 1e-12);
  report.add_at_most(
      "NaN stays where it may be, gradient of x", where,
      distance(elsewhere(with_nan.input_gradient), elsewhere(without.input_gradient)), 1e-12);
  const double at_nan = with_nan.value.data()[0];
  report.add("NaN is not hidden", where, std::isnan(at_nan),
             fmt::format("output {} in its place", at_nan));
}

}  // namespace

void check_edge_cases(const NormEntry& entry, Report& report) {
  const Tensor x = well_scaled_input(kShape);
  check_finite(entry, "all zero", Tensor::zeros(kShape), report);
  check_finite(entry, "all 5", Tensor::full(kShape, 5.0), report);
  check_finite(entry, "one token zero", with_first_token(x, 0.0), report);
  check_finite(entry, "one token constant", with_first_token(x, 5.0), report);
  check_finite(entry, "tokens times 1e-200", times(x, 1e-200), report);
  check_huge(entry, report);
  check_offset(entry, report);
}

void check_nan(const NormEntry& entry, Report& report) {
  report.guarded("NaN stays where it may be", "a NaN in token 0, feature 0",
                 [&] { check_reach(entry, well_scaled_input(kShape), report); });
}

}  // namespace normlab::conformance
