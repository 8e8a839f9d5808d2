#include "core/tools/svd.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/random.hpp"

using namespace normlab;

namespace {

double row_dot(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) {
  double sum = 0.0;
  for (std::int64_t k = 0; k < a.width(); ++k) sum += a.at({i, k}) * b.at({j, k});
  return sum;
}

}  // namespace

TEST_CASE("svd: a diagonal matrix has its entries as singular values, the largest first") {
  const Svd result = svd(Tensor({3, 3}, {2.0, 0.0, 0.0, 0.0, -5.0, 0.0, 0.0, 0.0, 0.0}));
  REQUIRE(result.values.size() == 3);
  CHECK(result.values[0] == doctest::Approx(5.0).epsilon(1e-14));
  CHECK(result.values[1] == doctest::Approx(2.0).epsilon(1e-14));
  CHECK(result.values[2] == 0.0);
  CHECK(std::abs(result.directions.at({0, 1})) == 1.0);
}

TEST_CASE("svd: A v has length sigma, directions are orthonormal, images orthogonal") {
  Generator generator(3);
  for (const Shape& shape : {Shape{7, 4}, Shape{4, 7}, Shape{20, 20}}) {
    CAPTURE(shape.str());
    const Tensor a = generator.randn(shape);
    const Svd result = svd(a);
    const std::int64_t n = shape[1];
    Tensor images = Tensor::uninitialized({n, shape[0]});
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t r = 0; r < shape[0]; ++r) {
        images.mutable_data()[i * shape[0] + r] = row_dot(a, r, result.directions, i);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = result.values[static_cast<std::size_t>(i)];
      CHECK(std::abs(std::sqrt(row_dot(images, i, images, i)) - value) < 1e-12);
      if (i > 0) CHECK(value <= result.values[static_cast<std::size_t>(i - 1)]);
      for (std::int64_t j = 0; j < n; ++j) {
        CHECK(std::abs(row_dot(result.directions, i, result.directions, j) - (i == j ? 1.0 : 0.0)) <
              1e-12);
        if (i != j) CHECK(std::abs(row_dot(images, i, images, j)) < 1e-11);
      }
    }
  }
}

TEST_CASE("svd: a singular value far below the largest keeps its digits") {
  // The product of the two is the determinant 1e-16, the sum of their squares the sum of all.
  const Svd result = svd(Tensor({2, 2}, {1e-16, 1, 2e-16, 1}));
  CHECK(std::abs(result.values[0] / std::sqrt(2.0) - 1.0) <= 1e-15);
  CHECK(std::abs(result.values[1] / (1e-16 / std::sqrt(2.0)) - 1.0) <= 1e-14);
}

TEST_CASE("svd: what is not a matrix of finite numbers is refused") {
  CHECK_THROWS_AS(svd(Tensor::ones({3})), std::invalid_argument);
  CHECK_THROWS_AS(svd(Tensor::full({2, 2}, std::numeric_limits<double>::quiet_NaN())),
                  std::invalid_argument);
}
