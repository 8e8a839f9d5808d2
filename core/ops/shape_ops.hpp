#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tape.hpp"

// Ops that move elements without computing on them.
namespace normlab {

// Same elements, other shape; no copy. One extent may be -1 and is worked out.
Var reshape(const Var& x, const std::vector<std::int64_t>& extents);
// Axis i of the result is axis order[i] of x.
Var permute(const Var& x, const std::vector<std::int64_t>& order);
// Elements [first, last) along one axis.
Var slice(const Var& x, std::int64_t axis, std::int64_t first, std::int64_t last);
// Joins along an existing axis; all other extents must agree. At least one part.
Var concat(const std::vector<Var>& parts, std::int64_t axis);
// Joins equal shapes along a new axis.
Var stack(const std::vector<Var>& parts, std::int64_t axis);
// Rows of a table (n, ...) by index, repeats allowed: result (number of indices, ...). Backward
// adds up what the repeats of a row receive; to the row no_grad_row, if given, it passes nothing.
Var gather_rows(const Var& table, std::span<const std::int64_t> rows,
                std::optional<std::int64_t> no_grad_row = std::nullopt);

}  // namespace normlab
