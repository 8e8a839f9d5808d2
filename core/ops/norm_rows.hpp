#pragma once

#include <optional>
#include <string_view>

#include "core/tape.hpp"

// What layer_norm and rms_norm share: which axes are a row, and the optional per-feature
// parameters.
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

// f(row, in + offset of the row, out + offset of the row) for every row.
template <typename F>
void for_each_norm_row(NormRows rows, const Tensor& in, Tensor& out, F f) {
  const double* from = in.data();
  double* to = out.mutable_data();
  for (std::int64_t row = 0; row < rows.count; ++row) {
    f(static_cast<std::size_t>(row), from + row * rows.width, to + row * rows.width);
  }
}

// The given inputs with the absent ones left out.
std::vector<Var> present(const Var& x, const std::optional<Var>& weight,
                         const std::optional<Var>& bias = std::nullopt);

// 1 / sqrt(mean_square * scale^2 + eps), without forming scale^2, which may overflow or vanish.
// 0 for a row without any spread at eps = 0, so that such a row is mapped to 0 rather than to 0/0.
double reciprocal_root(double mean_square, double scale, double eps);

}  // namespace normlab
