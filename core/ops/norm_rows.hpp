#pragma once

#include <optional>
#include <string_view>

#include "core/tape.hpp"

// What layer_norm and rms_norm share: which axes are a row, the optional per-feature parameters,
// and rows whose squares overflow or underflow.
namespace normlab {

struct NormRows {
  std::int64_t count;  // statistics computed: one set per row
  std::int64_t width;  // elements that share them
};

// Checks that x ends in `normalized_shape`, and that the parameters have exactly that shape.
// Throws std::invalid_argument naming `op`.
NormRows check_norm_rows(std::string_view op, const Var& x, const Shape& normalized_shape,
                         const std::optional<Var>& weight, const std::optional<Var>& bias,
                         double eps);

// The given inputs with the absent ones left out.
std::vector<Var> present(const Var& x, const std::optional<Var>& weight,
                         const std::optional<Var>& bias = std::nullopt);

// Whether 1 / sqrt(mean_square + eps) can be computed as it stands. Otherwise the squares
// overflowed or lost digits by underflow (or a NaN is among them), and the row has to be measured
// in another unit.
inline bool is_ordinary(double mean_square, double eps) {
  constexpr double kSmallest = 1e-280, kLargest = 1e280;
  return mean_square + eps > kSmallest && mean_square < kLargest;
}

// A power of two: in this unit, the largest element of the row is about 1.
double unit_for(double largest);

// 1 / sqrt(mean_square + eps * unit^2), without forming the square, for a mean square in units.
// 0 for a row without spread at eps = 0, which maps it to 0 rather than to 0/0.
double reciprocal_root(double mean_square, double unit, double eps);

}  // namespace normlab
