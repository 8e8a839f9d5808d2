#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "data/digits.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

double standard_deviation(const Tensor& x, double divisor) {
  const auto n = static_cast<double>(x.numel());
  const double mean = std::accumulate(x.values().begin(), x.values().end(), 0.0) / n;
  double sum = 0.0;
  for (const double value : x.values()) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / divisor);
}

}  // namespace

TEST_CASE("standardize: mean 0 and standard deviation 1 with the divisor n - 1") {
  const Tensor x = load_digits().range(0, 256).images;
  const auto n = static_cast<double>(x.numel());
  const double mean = std::accumulate(x.values().begin(), x.values().end(), 0.0) / n;
  CHECK(std::abs(mean - 4.90606689) <= 5e-9);
  CHECK(std::abs(standard_deviation(x, n - 1) - 6.12602613) <= 5e-9);
  CHECK(std::abs(standard_deviation(x, n) - 6.12583917) <= 5e-9);
  const Tensor y = standardize(x);
  CHECK(std::abs(standard_deviation(y, n - 1) - 1.0) <= 1e-12);
  CHECK(std::abs(std::accumulate(y.values().begin(), y.values().end(), 0.0) / n) <= 1e-12);
  CHECK(std::abs(y.data()[0] - (0.0 - 4.90606689) / 6.12602613) <= 5e-9);
  CHECK(x.data()[0] == 0.0);  // the argument is unchanged
}

TEST_CASE("standardize: fewer than two elements or equal elements are refused") {
  CHECK(relative_error(standardize(Tensor({2}, {1, 3})),
                       Tensor({2}, {-std::sqrt(0.5), std::sqrt(0.5)})) <= 1e-15);
  check_refused([] { standardize(Tensor({1}, {3})); },
                "[standardize] x: must have at least two elements, got (1,)");
  // 0.1 + 0.1 + 0.1 is 0.30000000000000004: rounding gives equal values a small deviation.
  for (const double value : {0.0, 4.0, 0.1}) {
    CAPTURE(value);
    check_refused([&] { standardize(Tensor::full({3}, value)); },
                  "[standardize] x: must be finite and not constant");
  }
  for (const double value : {std::nan(""), HUGE_VAL, 1e-200}) {  // 1e-200 squared is 0
    CAPTURE(value);
    check_refused(
        [&] {
          standardize(Tensor({3}, {0, value, 0}));
        },
        "[standardize] x: must be finite and not constant");
  }
}

TEST_CASE("patches: patches and the pixels of a patch are in row-major order") {
  const Tensor image({1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7,  //
                                 8, 9, 10, 11, 12, 13, 14, 15});
  const Tensor expected({1, 4, 4}, {0, 1, 4, 5, 2, 3, 6, 7,  //
                                    8, 9, 12, 13, 10, 11, 14, 15});
  CHECK(max_abs_difference(patches(image, 2), expected) == 0.0);
  CHECK(max_abs_difference(patches(image, 4), image.reshaped({1, 1, 16})) == 0.0);
  CHECK(max_abs_difference(patches(image, 1), image.reshaped({1, 16, 1})) == 0.0);
}

TEST_CASE("patches: every image is cut separately") {
  const Tensor images = load_digits().range(0, 3).images;
  const Tensor tokens = patches(images, 2);
  CHECK(tokens.shape().str() == "(3, 16, 4)");
  // Patch 6 is in row 1, column 2 of the patches; its element 1 is in row 0, column 1 of the patch.
  CHECK(tokens.at({2, 6, 1}) == images.at({2, 2, 5}));
  CHECK(patches(Tensor::zeros({0, 8, 8}), 4).shape().str() == "(0, 4, 16)");
}

TEST_CASE("patches: a side that does not divide the image side is refused") {
  for (const std::int64_t side : {0, -2, 3, 16}) {
    CAPTURE(side);
    check_refused(
        [&] {
          patches(Tensor::zeros({1, 8, 8}), side);
        },
        "[patches] side: must divide the image side 8");
  }
  check_refused([] { patches(Tensor::zeros({1, 8, 4}), 2); }, "[patches] images: must be square");
  check_refused([] { patches(Tensor::zeros({8, 8}), 2); }, "[patches] images: must be square");
}

TEST_CASE("train_test_split: disjoint, complete, shuffled and reproducible") {
  Generator generator(1), same(1), other(2);
  const Split split = train_test_split(1797, 0.8, generator);
  CHECK(split.train.size() == 1437);
  CHECK(split.test.size() == 360);
  std::vector<std::int64_t> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  CHECK_FALSE(std::ranges::is_sorted(all));
  std::ranges::sort(all);
  std::vector<std::int64_t> expected(1797);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
  const Split again = train_test_split(1797, 0.8, same);
  CHECK(again.train == split.train);
  CHECK(again.test == split.test);
  CHECK(train_test_split(1797, 0.8, other).train != split.train);
}

TEST_CASE(
    "train_test_split: fractions 0 and 1 leave one side empty, and those outside are refused") {
  Generator generator(1);
  CHECK(train_test_split(10, 1.0, generator).test.empty());
  CHECK(train_test_split(10, 0.0, generator).train.empty());
  CHECK(train_test_split(0, 0.5, generator).train.empty());
  for (const double fraction : {-0.1, 1.1, std::nan("")}) {
    check_refused([&] { train_test_split(10, fraction, generator); },
                  "[train_test_split] train_fraction: must be a probability");
  }
}

TEST_CASE("batches: consecutive, each position once, the last one smaller") {
  using Positions = std::vector<std::int64_t>;
  CHECK(batches({7, 3, 5, 1, 9}, 2) == std::vector<Positions>{{7, 3}, {5, 1}, {9}});
  CHECK(batches({7, 3}, 2) == std::vector<Positions>{{7, 3}});
  CHECK(batches({7, 3}, 10) == std::vector<Positions>{{7, 3}});
  CHECK(batches({}, 2).empty());
  for (const std::int64_t size : {0, -1}) {
    check_refused([&] { batches({1, 2}, size); }, "[batches] batch_size: must be positive");
  }
}
