#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/tape.hpp"

// Ops that move elements and compute nothing. All throw std::invalid_argument naming the op and the
// argument if shapes, axes or indices do not fit. An axis may be negative, counted from the end.
namespace normlab {

// The same elements in another shape; no copy. One extent may be -1 and is then inferred.
Var reshape(const Var& x, const std::vector<std::int64_t>& extents);
// Reorders the axes: axis i of the result is axis dims[i] of x. `dims` names every axis once.
Var permute(const Var& x, const std::vector<std::int64_t>& dims);
// The elements [first, last) along one axis: the result's extent there is last - first.
Var slice(const Var& x, std::int64_t axis, std::int64_t first, std::int64_t last);
// Joins at least one part along an existing axis; all other extents must agree.
Var concat(const std::vector<Var>& parts, std::int64_t axis);
// Joins parts of equal shape along a new axis at position `axis`.
Var stack(const std::vector<Var>& parts, std::int64_t axis);
// Rows of a table (n, ...) by index in [0, n), repeats allowed: result (number of indices, ...), as
// torch.index_select along axis 0. Backward adds up what the repeats of a row receive; the row
// `no_grad_index`, if given, receives nothing.
Var index_select(const Var& table, std::span<const std::int64_t> indices,
                 std::optional<std::int64_t> no_grad_index = std::nullopt);

}  // namespace normlab
