#include "core/tensor.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

namespace normlab {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("tensor: values lie in row-major order") {
  const Tensor x({2, 3}, {0, 1, 2, 10, 11, 12});
  CHECK(x.at({0, 2}) == 2);
  CHECK(x.at({1, 0}) == 10);
  CHECK(x.rows() == 2);
  CHECK(x.width() == 3);
  CHECK(x.str() == "(2, 3) 0 1 2 10 11 12");
}

TEST_CASE("tensor: factories") {
  CHECK(Tensor::zeros({2}).str() == "(2,) 0 0");
  CHECK(Tensor::ones({1, 2}).str() == "(1, 2) 1 1");
  CHECK(Tensor::full({2}, -3).str() == "(2,) -3 -3");
  CHECK(Tensor::arange(4).str() == "(4,) 0 1 2 3");
  CHECK(Tensor::arange(0).str() == "(0,) ");
}

TEST_CASE("tensor: rank 0 holds one value") {
  const Tensor x = Tensor::scalar(2.5);
  CHECK(x.defined());
  CHECK(x.rank() == 0);
  CHECK(x.numel() == 1);
  CHECK(x.item() == 2.5);
  CHECK(x.at({}) == 2.5);
}

TEST_CASE("tensor: an empty tensor is defined and a default-constructed one is not") {
  const Tensor empty = Tensor::zeros({3, 0});
  CHECK(empty.defined());
  CHECK(empty.numel() == 0);
  CHECK(empty.values().empty());
  CHECK(norm(empty) == 0.0);
  CHECK(all_finite(empty));
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK(none.numel() == 0);
  CHECK(none.values().empty());
}

TEST_CASE("tensor: a write is never seen through a copy") {
  Tensor a({2}, {1, 2});
  const Tensor b = a;
  const Tensor c = a.reshaped({1, 2});
  CHECK(b.data() == a.data());
  CHECK(c.data() == a.data());
  a.mutable_data()[0] = 100;
  CHECK(a.at({0}) == 100);
  CHECK(b.at({0}) == 1);
  CHECK(c.at({0, 0}) == 1);
}

TEST_CASE("tensor: a buffer of one owner is written in place") {
  Tensor a = Tensor::zeros({8});
  const double* before = a.data();
  a.mutable_data()[3] = 1;
  CHECK(a.data() == before);
  { const Tensor copy = a; }
  a.mutable_data()[3] = 2;
  CHECK(a.data() == before);
}

TEST_CASE("tensor: buffers are aligned to 64 bytes") {
  for (std::int64_t n : {0, 1, 7, 8, 9, 100, 1000, 12345, 100000}) {
    CAPTURE(n);
    CHECK(reinterpret_cast<std::uintptr_t>(Tensor::zeros({n}).data()) % 64 == 0);
  }
}

TEST_CASE("tensor: += adds elementwise, also to itself and to a shared buffer") {
  Tensor x({2}, {1, 2});
  const Tensor before = x;
  x += Tensor({2}, {10, 20});
  CHECK(x.str() == "(2,) 11 22");
  CHECK(before.str() == "(2,) 1 2");
  x += x;
  CHECK(x.str() == "(2,) 22 44");
  const Tensor shared = x;
  x += shared;
  CHECK(x.str() == "(2,) 44 88");
  CHECK(shared.str() == "(2,) 22 44");
}

TEST_CASE("tensor: += refuses another shape and no tensor") {
  Tensor x = Tensor::scalar(1);
  CHECK_THROWS_WITH_AS(
      x += Tensor::ones({1}),
      "[Tensor::operator+=] other: must have the shape of the other operand, got (1,) and ()",
      std::invalid_argument);
  CHECK_THROWS_AS(x += Tensor(), std::invalid_argument);  // its shape is () as well
  CHECK(x.item() == 1);
}

TEST_CASE("tensor: reshaped keeps the elements and refuses another number of them") {
  const Tensor x = Tensor::arange(6).reshaped({2, 3});
  CHECK(x.at({1, 1}) == 4);
  CHECK_THROWS_WITH_AS(x.reshaped({4}),
                       "[reshape] shape: must hold the 6 elements of (2, 3), got (4,)",
                       std::invalid_argument);
}

TEST_CASE("tensor: what was moved from is undefined, and nothing reads its lost buffer") {
  Tensor x = Tensor::ones({2, 3});
  const Tensor y = std::move(x);
  CHECK_FALSE(x.defined());
  CHECK(x.numel() == 0);
  CHECK(x.values().empty());
  CHECK(norm(x) == 0.0);
  CHECK(all_finite(x));
  CHECK(x.str() == "no tensor");
  CHECK_THROWS_AS(x.item(), std::invalid_argument);
  CHECK_THROWS_AS(x.reshaped({6}), std::invalid_argument);
  CHECK_THROWS_AS(x.reshaped({0}), std::invalid_argument);
  CHECK_THROWS_AS(x += y, std::invalid_argument);
  Tensor assigned = Tensor::ones({2});
  assigned = std::move(x);
  CHECK_FALSE(assigned.defined());
  x = y;
  CHECK(max_abs_difference(x, y) == 0.0);
}

TEST_CASE("tensor: a size whose bytes 64 bits cannot count is refused") {
  constexpr std::int64_t kTooMany = std::int64_t{1} << 61;
  CHECK_THROWS_WITH_AS(
      Tensor::uninitialized({kTooMany}),
      "[Tensor] shape: must have less than 2^60 elements, got (2305843009213693952,)",
      std::invalid_argument);
  CHECK_THROWS_AS(Tensor::uninitialized({kTooMany / 2}), std::invalid_argument);
  CHECK(Tensor::uninitialized({0, kTooMany}).numel() == 0);
}

TEST_CASE("tensor: wrong indices and counts are named") {
  const Tensor x = Tensor::zeros({2, 3});
  CHECK_THROWS_WITH_AS(x.at({0, 3}), "[Tensor::at] index: must lie inside (2, 3), got (0, 3)",
                       std::invalid_argument);
  CHECK_THROWS_AS(x.at({-1, 0}), std::invalid_argument);
  CHECK_THROWS_WITH_AS(x.at({0}),
                       "[Tensor::at] index: must have one entry per axis of (2, 3), got 1",
                       std::invalid_argument);
  CHECK_THROWS_AS(Tensor().at({}), std::invalid_argument);
  CHECK_THROWS_WITH_AS(x.item(), "[Tensor::item] tensor: must hold exactly one value, got (2, 3)",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(Tensor().item(),
                       "[Tensor::item] tensor: must hold exactly one value, got no tensor",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(Tensor({2}, {1, 2, 3}),
                       "[Tensor] values: must be 2 numbers for shape (2,), got 3",
                       std::invalid_argument);
}

TEST_CASE("tensor: the norm neither overflows nor underflows") {
  CHECK(norm(Tensor({2}, {3, -4})) == 5.0);
  CHECK(norm(Tensor::zeros({4})) == 0.0);
  CHECK(std::abs(norm(Tensor({2}, {3e200, -4e200})) / 5e200 - 1.0) <= 1e-15);
  CHECK(std::abs(norm(Tensor({2}, {3e-200, -4e-200})) / 5e-200 - 1.0) <= 1e-15);
  CHECK(norm(Tensor({2}, {-kInf, 1})) == kInf);
  CHECK(std::isnan(norm(Tensor({3}, {1, kNaN, 2}))));
  CHECK(std::isnan(norm(Tensor({2}, {kInf, kNaN}))));
}

TEST_CASE("tensor: the largest difference is infinite where only one side is NaN") {
  CHECK(max_abs_difference(Tensor({2}, {1, 5}), Tensor({2}, {2, 2})) == 3.0);
  CHECK(max_abs_difference(Tensor({1}, {kNaN}), Tensor({1}, {kNaN})) == 0.0);
  CHECK(max_abs_difference(Tensor({1}, {kNaN}), Tensor({1}, {0})) == kInf);
  CHECK(max_abs_difference(Tensor({1}, {0}), Tensor({1}, {kNaN})) == kInf);
  CHECK(max_abs_difference(Tensor({1}, {kInf}), Tensor({1}, {kInf})) == 0.0);
  CHECK_THROWS_AS(max_abs_difference(Tensor::ones({2}), Tensor::ones({3})), std::invalid_argument);
  CHECK_THROWS_AS(max_abs_difference(Tensor(), Tensor::scalar(1)), std::invalid_argument);
}

TEST_CASE("tensor: all_finite sees NaN and infinity in every build type") {
  CHECK(all_finite(Tensor({2}, {1, std::numeric_limits<double>::max()})));
  CHECK_FALSE(all_finite(Tensor({3}, {1, 2, kNaN})));
  CHECK_FALSE(all_finite(Tensor({3}, {kInf, 2, 3})));
  CHECK_FALSE(all_finite(Tensor({3}, {1, -kInf, 3})));
}

}  // namespace
}  // namespace normlab
