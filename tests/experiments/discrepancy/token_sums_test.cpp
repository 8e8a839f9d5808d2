#include "experiments/discrepancy/token_sums.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/random.hpp"

using namespace normlab;
using namespace normlab::discrepancy;

namespace {

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

// Mean of value(t, u) over ordered pairs of different tokens, of one sequence or of two.
template <typename F>
double mean_over_pairs(std::int64_t sequences, std::int64_t n, bool within, F value) {
  double sum = 0.0, pairs = 0.0;
  for (std::int64_t t = 0; t < sequences * n; ++t) {
    for (std::int64_t u = 0; u < sequences * n; ++u) {
      if (t == u || (t / n == u / n) != within) continue;
      sum += value(t, u);
      pairs += 1.0;
    }
  }
  return sum / pairs;
}

}  // namespace

TEST_CASE("TokenSimilarity: the sums are means of the cosines of all pairs") {
  Generator generator(1);
  Tensor tokens = generator.randn({4, 3, 5});
  for (double& value : tokens.mutable_values()) value += 0.7;
  const auto cosine = [&](std::int64_t t, std::int64_t u) {
    const double *a = tokens.data() + 5 * t, *b = tokens.data() + 5 * u;
    return dot(a, b, 5) / std::sqrt(dot(a, a, 5) * dot(b, b, 5));
  };
  TokenSimilarity all;
  all.add(tokens);
  const double within = mean_over_pairs(4, 3, true, cosine),
               across = mean_over_pairs(4, 3, false, cosine);
  CHECK(relative_error(all.within(), within) < 1e-13);
  CHECK(relative_error(all.across(), across) < 1e-13);

  TokenSimilarity first, second;  // of slices, as the measurement adds them
  first.add(Tensor({1, 3, 5}, tokens.values().first(15)));
  second.add(Tensor({3, 3, 5}, tokens.values().last(45)));
  first.add(second);
  CHECK(relative_error(first.within(), within) < 1e-13);
  CHECK(relative_error(first.across(), across) < 1e-13);
}

TEST_CASE("TokenSimilarity: equal tokens have 1, a zero token 0, and no pair is NaN") {
  TokenSimilarity equal;
  equal.add(Tensor({2, 2, 2}, {1, 2, 3, 6, 0.5, 1, 2, 4}));
  CHECK(std::abs(equal.within() - 1.0) < 1e-15);
  CHECK(std::abs(equal.across() - 1.0) < 1e-15);
  TokenSimilarity zero;
  zero.add(Tensor({1, 2, 2}, {1, 2, 0, 0}));
  CHECK(std::abs(zero.within()) < 1e-15);
  CHECK(std::isnan(zero.across()));
  TokenSimilarity alone;
  alone.add(Tensor({2, 1, 2}, {3, 4, 4, 3}));
  CHECK(std::isnan(alone.within()));
  CHECK(std::abs(alone.across() - 0.96) < 1e-15);
}

TEST_CASE("GradientSquares: the parts are sums over pairs of tokens") {
  Generator generator(2);
  const Tensor h = generator.randn({3, 4, 5}), delta = generator.randn({3, 4, 2});
  const auto product = [&](std::int64_t t, std::int64_t u) {
    return dot(h.data() + 5 * t, h.data() + 5 * u, 5) *
           dot(delta.data() + 2 * t, delta.data() + 2 * u, 2);
  };
  double self = 0.0;
  for (std::int64_t t = 0; t < 12; ++t) self += product(t, t);
  GradientSquares squares;
  squares.add(h, delta);
  CHECK(relative_error(squares.self, self) < 1e-13);
  CHECK(relative_error(squares.same_sequence, mean_over_pairs(3, 4, true, product) * 3 * 4 * 3) <
        1e-12);
  CHECK_THROWS_AS(squares.add(h, generator.randn({3, 3, 2})), std::invalid_argument);
}
