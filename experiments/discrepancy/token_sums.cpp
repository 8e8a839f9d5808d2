// Tested by tests/experiments/discrepancy/token_sums_test.cpp.
#include "experiments/discrepancy/token_sums.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "core/check.hpp"
#include "core/kernels/blas.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab::discrepancy {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double square(const double* x, std::int64_t n) {
  return lane_sum(n, [x](std::int64_t i) { return x[i] * x[i]; });
}

// All inner products of n rows of width d: (n, n).
std::vector<double> inner_products(const double* rows, std::int64_t n, std::int64_t d) {
  std::vector<double> products(static_cast<std::size_t>(n * n));
  blas::gemm(n, n, d, {rows, d}, {rows, d, blas::Transpose::yes}, products.data(), n);
  return products;
}

}  // namespace

void TokenSimilarity::add(const Tensor& tokens) {
  check(tokens.rank() == 3, "TokenSimilarity", "tokens", "must be (sequences, n, d)",
        [&] { return tokens.shape().str(); });
  const std::int64_t n = tokens.shape()[1], d = tokens.width();
  if (!sum_.defined()) sum_ = Tensor::zeros({d});
  check_shape("TokenSimilarity", "width", {d}, sum_.shape());
  for (std::int64_t s = 0; s < tokens.shape()[0]; ++s) {
    Tensor of_sequence = Tensor::zeros({d});
    for (std::int64_t t = 0; t < n; ++t) {
      const double* token = tokens.data() + (s * n + t) * d;
      const double length = std::sqrt(square(token, d));
      if (length == 0.0) continue;
      self_ += 1.0;
      double* to = of_sequence.mutable_data();
      for (std::int64_t i = 0; i < d; ++i) to[i] += token[i] / length;
    }
    sum_of_squares_ += square(of_sequence.data(), d);
    sum_ += of_sequence;
  }
  const auto sequences = static_cast<double>(tokens.shape()[0]), length = static_cast<double>(n);
  tokens_ += sequences * length;
  pairs_of_a_sequence_ += sequences * length * length;
}

void TokenSimilarity::add(const TokenSimilarity& other) {
  if (!other.sum_.defined()) return;
  if (!sum_.defined()) sum_ = Tensor::zeros(other.sum_.shape());
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
  self_ += other.self_;
  tokens_ += other.tokens_;
  pairs_of_a_sequence_ += other.pairs_of_a_sequence_;
}

double TokenSimilarity::within() const {
  const double pairs = pairs_of_a_sequence_ - tokens_;
  return pairs > 0.0 ? (sum_of_squares_ - self_) / pairs : kNaN;
}

double TokenSimilarity::across() const {
  const double pairs = tokens_ * tokens_ - pairs_of_a_sequence_;
  return pairs > 0.0 ? (square(sum_.data(), sum_.numel()) - sum_of_squares_) / pairs : kNaN;
}

void GradientSquares::add(const Tensor& h, const Tensor& delta) {
  check(h.rank() == 3 && delta.rank() == 3 && h.rows() == delta.rows(), "GradientSquares", "delta",
        "must be (sequences, n, d) for as many tokens as h",
        [&] { return h.shape().str() + " and " + delta.shape().str(); });
  const std::int64_t n = h.shape()[1], f = h.width(), d = delta.width();
  for (std::int64_t s = 0; s < h.shape()[0]; ++s) {
    const std::vector<double> hh = inner_products(h.data() + s * n * f, n, f);
    const std::vector<double> dd = inner_products(delta.data() + s * n * d, n, d);
    for (std::int64_t t = 0; t < n; ++t) {
      for (std::int64_t u = 0; u < n; ++u) {
        const auto pair = static_cast<std::size_t>(t * n + u);
        (t == u ? self : same_sequence) += hh[pair] * dd[pair];
      }
    }
  }
}

}  // namespace normlab::discrepancy
