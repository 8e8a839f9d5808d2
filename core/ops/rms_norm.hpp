#pragma once

#include <limits>
#include <optional>

#include "core/tape.hpp"

namespace normlab {

// Root mean square normalization (Zhang and Sennrich 2019), as torch.nn.functional.rms_norm:
//
//   y = weight * x / sqrt(mean(x^2) + eps)
//
// per row, a row being the trailing axes of x that make up `normalized_shape`. Unlike layer_norm
// there is no centring and no bias; on rows of mean zero the two agree for the same eps. Note the
// default eps: the machine epsilon, not layer_norm's 1e-5. Shapes, errors and range as in
// layer_norm: weight has the normalized shape, and rows up to the ends of the double range, or of
// subnormal numbers, keep their accuracy. A row of zeros gives zeros, also at eps = 0.
Var rms_norm(const Var& x, const Shape& normalized_shape,
             const std::optional<Var>& weight = std::nullopt,
             double eps = std::numeric_limits<double>::epsilon());

}  // namespace normlab
