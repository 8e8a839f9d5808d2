#include "core/shape.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"

namespace normlab {

namespace {

void check_extents(const std::vector<std::int64_t>& extents) {
  const auto all = [&] { return fmt::format("({})", fmt::join(extents, ", ")); };
  std::int64_t product = 1;
  bool fits = true;
  for (std::int64_t extent : extents) {
    check(extent >= 0, "Shape", "extents", "must not be negative", all);
    // An extent of 0 counts as 1: strides, and the extents of a part of the axes, must fit as well.
    fits = !__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product) && fits;
  }
  check(fits, "Shape", "extents", "must have a product that 64 bits can hold", all);
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {
  check_extents(extents_);
}

Shape::Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
  check_extents(extents_);
}

std::int64_t Shape::numel() const {
  return std::accumulate(begin(), end(), std::int64_t{1}, std::multiplies<>{});
}

std::int64_t Shape::operator[](std::int64_t axis) const {
  return extents_[static_cast<std::size_t>(normalize_axis("Shape", axis, rank()))];
}

std::int64_t Shape::rows() const { return extents_.empty() ? 1 : axes(0, rank() - 1).numel(); }

Shape Shape::with_axis(std::int64_t axis, std::int64_t extent) const {
  std::vector<std::int64_t> extents = extents_;
  extents[static_cast<std::size_t>(normalize_axis("Shape", axis, rank()))] = extent;
  return Shape(std::move(extents));
}

Shape Shape::axes(std::int64_t first, std::int64_t last) const {
  check(0 <= first && first <= last && last <= rank(), "Shape", "axes",
        fmt::format("must be a range inside [0, {})", rank()),
        [&] { return fmt::format("[{}, {})", first, last); });
  return Shape(std::vector<std::int64_t>(begin() + first, begin() + last));
}

std::string Shape::str() const {
  return fmt::format("({}{})", fmt::join(extents_, ", "), rank() == 1 ? "," : "");
}

std::int64_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) {
    fail(op, "axis", fmt::format("must be in [{}, {}) for a tensor of rank {}", -rank, rank, rank),
         std::to_string(axis));
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> contiguous_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.extents().size(), 1);
  for (std::size_t axis = strides.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * shape.extents()[axis];
  }
  return strides;
}

}  // namespace normlab
