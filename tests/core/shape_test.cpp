#include "core/shape.hpp"

#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

namespace normlab {
namespace {

TEST_CASE("shape: prints as a Python tuple") {
  CHECK(Shape{}.str() == "()");
  CHECK(Shape{64}.str() == "(64,)");
  CHECK(Shape{256, 16, 64}.str() == "(256, 16, 64)");
  CHECK(Shape{0, 3}.str() == "(0, 3)");
}

TEST_CASE("shape: a scalar has rank 0 and one element") {
  const Shape scalar;
  CHECK(scalar.rank() == 0);
  CHECK(scalar.numel() == 1);
  CHECK(scalar.width() == 1);
  CHECK(scalar.rows() == 1);
}

TEST_CASE("shape: numel is the product, and rows times width") {
  const Shape shape{2, 3, 5};
  CHECK(shape.numel() == 30);
  CHECK(shape.rows() == 6);
  CHECK(shape.width() == 5);
  CHECK(Shape{4, 0, 5}.numel() == 0);
  CHECK(Shape{4, 0}.rows() == 4);
}

TEST_CASE("shape: axes count from the front, and from the back if negative") {
  const Shape shape{2, 3, 5};
  CHECK(shape[0] == 2);
  CHECK(shape[2] == 5);
  CHECK(shape[-1] == 5);
  CHECK(shape[-3] == 2);
  CHECK_THROWS_WITH_AS(shape[3], "[Shape] axis: must be in [-3, 3) for a tensor of rank 3, got 3",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(Shape{}[0], "[Shape] axis: must be in [0, 0) for a tensor of rank 0, got 0",
                       std::invalid_argument);
}

TEST_CASE("shape: normalize_axis names the op") {
  CHECK(normalize_axis("softmax", -1, 4) == 3);
  CHECK(normalize_axis("softmax", -4, 4) == 0);
  CHECK_THROWS_WITH_AS(normalize_axis("softmax", -5, 4),
                       "[softmax] axis: must be in [-4, 4) for a tensor of rank 4, got -5",
                       std::invalid_argument);
}

TEST_CASE("shape: one axis replaced, and a range of axes") {
  const Shape shape{2, 3, 5};
  CHECK(shape.with_axis(1, 7) == Shape{2, 7, 5});
  CHECK(shape.with_axis(-1, 0) == Shape{2, 3, 0});
  CHECK(shape.axes(1, 3) == Shape{3, 5});
  CHECK(shape.axes(2, 2) == Shape{});
}

TEST_CASE("shape: equal only if rank and every extent are") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 1});
  CHECK(Shape{} != Shape{1});
}

TEST_CASE("shape: strides of a contiguous tensor") {
  CHECK(contiguous_strides({2, 3, 5}) == std::vector<std::int64_t>{15, 5, 1});
  CHECK(contiguous_strides({}).empty());
}

TEST_CASE("shape: a negative extent is refused") {
  CHECK_THROWS_WITH_AS((Shape{2, -1}), "[Shape] extents: must not be negative, got (2, -1)",
                       std::invalid_argument);
}

TEST_CASE("shape: a product beyond 64 bits is refused") {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  CHECK(Shape{kLargest}.numel() == kLargest);
  CHECK_THROWS_WITH_AS(
      (Shape{kLargest, 2}),
      "[Shape] extents: must have a product that 64 bits can hold, got (9223372036854775807, 2)",
      std::invalid_argument);
}

TEST_CASE("shape: an extent of 0 does not hide extents whose strides would overflow") {
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  CHECK_THROWS_AS((Shape{0, kLarge, kLarge}), std::invalid_argument);
  CHECK_THROWS_AS((Shape{kLarge, kLarge, 0}), std::invalid_argument);
  CHECK(contiguous_strides({0, kLarge}) == std::vector<std::int64_t>{kLarge, 1});
}

TEST_CASE("shape: a range of axes that the shape does not have is refused") {
  const Shape shape{2, 3};
  CHECK_THROWS_WITH_AS(shape.axes(0, 5), "[Shape] axes: must be a range inside [0, 2), got [0, 5)",
                       std::invalid_argument);
  CHECK_THROWS_AS(shape.axes(-1, 1), std::invalid_argument);
  CHECK_THROWS_AS(shape.axes(2, 1), std::invalid_argument);
  CHECK(shape.axes(2, 2).rank() == 0);
}

}  // namespace
}  // namespace normlab
