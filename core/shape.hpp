#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace normlab {

// Extents of a dense row-major tensor, outermost axis first. Rank 0 (a scalar) is the empty list,
// and an extent may be 0. Prints as a Python tuple: `()`, `(64,)`, `(256, 16, 64)`.
class Shape {
 public:
  Shape() = default;
  // Throws std::invalid_argument if an extent is negative, or if the product of those that are not
  // 0 is too large for 64 bits.
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::vector<std::int64_t> extents);

  std::int64_t rank() const { return static_cast<std::int64_t>(extents_.size()); }
  // Number of elements: the product of the extents, 1 for a scalar.
  std::int64_t numel() const;
  // Axes may be negative, counted from the end as in NumPy. Throws std::invalid_argument if out of
  // range.
  std::int64_t operator[](std::int64_t axis) const;
  // The last extent; 1 for a scalar. With `rows()` it describes the tensor as a matrix whose rows
  // are contiguous, which is all that row-wise kernels need to know.
  std::int64_t width() const { return extents_.empty() ? 1 : extents_.back(); }
  std::int64_t rows() const;

  const std::vector<std::int64_t>& extents() const { return extents_; }
  auto begin() const { return extents_.begin(); }
  auto end() const { return extents_.end(); }

  // The same shape with one axis replaced, and the axes [first, last) alone. Both throw
  // std::invalid_argument for axes that the shape does not have.
  Shape with_axis(std::int64_t axis, std::int64_t extent) const;
  Shape axes(std::int64_t first, std::int64_t last) const;

  std::string str() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> extents_;
};

// `axis` counted from the front, or std::invalid_argument naming `op`.
std::int64_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t rank);

// Distance in elements between neighbours along each axis of a contiguous tensor.
std::vector<std::int64_t> contiguous_strides(const Shape& shape);

}  // namespace normlab
