// Tested by tests/experiments/theory/simplified_transformer_test.cpp.
#include "experiments/theory/pair_moments.hpp"

#include <vector>

#include "core/check.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

double squared_length(const double* v, std::int64_t d) {
  return lane_sum(d, [v](std::int64_t i) { return v[i] * v[i]; });
}

void add(const double* v, std::vector<double>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += v[i];
}

double mean(double sum, std::int64_t pairs) {
  return pairs == 0 ? 0.0 : sum / static_cast<double>(pairs);
}

}  // namespace

PairMoments operator+(const PairMoments& a, const PairMoments& b) {
  return {a.same + b.same, a.within + b.within, a.across + b.across};
}

PairMoments operator*(double factor, const PairMoments& a) {
  return {factor * a.same, factor * a.within, factor * a.across};
}

PairMoments operator/(const PairMoments& a, double divisor) {
  return {a.same / divisor, a.within / divisor, a.across / divisor};
}

PairMoments pair_moments(const Tensor& tokens) {
  check(tokens.rank() == 3 && tokens.numel() > 0, "pair_moments", "tokens",
        "must be (sequences, tokens, d)", [&] { return tokens.shape().str(); });
  const std::int64_t sequences = tokens.shape()[0], n = tokens.shape()[1], d = tokens.shape()[2];
  std::vector<double> of_all(static_cast<std::size_t>(d), 0.0);
  double same = 0.0, in_sequences = 0.0;  // over all pairs of tokens of one sequence, i = j too
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
    std::vector<double> of_sequence(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t token = 0; token < n; ++token) {
      const double* v = tokens.data() + (sequence * n + token) * d;
      same += squared_length(v, d);
      add(v, of_sequence);
    }
    in_sequences += squared_length(of_sequence.data(), d);
    add(of_sequence.data(), of_all);
  }
  return {
      same / static_cast<double>(sequences * n), mean(in_sequences - same, sequences * n * (n - 1)),
      mean(squared_length(of_all.data(), d) - in_sequences, sequences * (sequences - 1) * n * n)};
}

}  // namespace normlab
