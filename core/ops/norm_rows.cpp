#include "core/ops/norm_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace normlab {

namespace {

// A map in channels-first layout is the usual reason for a wrong last axis.
std::string expectation(const Shape& x, const Shape& normalized_shape) {
  std::string text = "must end in the normalized shape " + normalized_shape.str();
  if (x.rank() == 4 && normalized_shape.rank() == 1 && x[1] == normalized_shape[0]) {
    text += " (axis 1 fits: a channels-first map has to be permuted to channels-last first)";
  }
  return text;
}

}  // namespace

NormRows check_norm_rows(std::string_view op, const Var& x, const Shape& normalized_shape,
                         const std::optional<Var>& weight, const std::optional<Var>& bias,
                         double eps) {
  const std::int64_t rank = x.value().rank(), axes = normalized_shape.rank();
  check(axes >= 1, op, "normalized_shape", "must name at least one axis",
        [&] { return normalized_shape.str(); });
  check(rank >= axes && x.shape().axes(rank - axes, rank) == normalized_shape, op, "x",
        expectation(x.shape(), normalized_shape), [&] { return x.shape().str(); });
  check(normalized_shape.numel() > 0, op, "normalized_shape", "must hold at least one element",
        [&] { return normalized_shape.str(); });
  check_at_least(op, "eps", eps, 0.0);
  if (weight) check_shape(op, "weight", weight->shape(), normalized_shape);
  if (bias) check_shape(op, "bias", bias->shape(), normalized_shape);
  return {x.shape().axes(0, rank - axes).numel(), normalized_shape.numel()};
}

std::vector<Var> present(const Var& x, const std::optional<Var>& weight,
                         const std::optional<Var>& bias) {
  std::vector<Var> inputs{x};
  if (weight) inputs.push_back(*weight);
  if (bias) inputs.push_back(*bias);
  return inputs;
}

double unit_for(double largest) {
  if (largest == 0.0) return 1.0;
  constexpr int kFarthest = 1000;  // keeps the unit itself away from the ends of the range
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -kFarthest, kFarthest));
}

double reciprocal_root(double mean_square, double unit, double eps) {
  const double root = std::hypot(std::sqrt(mean_square), std::sqrt(eps) * unit);
  return root == 0.0 ? 0.0 : 1.0 / root;
}

}  // namespace normlab
