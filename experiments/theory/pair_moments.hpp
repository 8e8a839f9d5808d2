#pragma once

#include "core/tensor.hpp"

namespace normlab {

// Of a set of vectors, one per token: the mean of v . v' over the pairs of one kind.
struct PairMoments {
  double same = 0.0;    // a token with itself
  double within = 0.0;  // two tokens of one sequence
  double across = 0.0;  // tokens of two sequences

  double correlation_within() const { return within / same; }
  double correlation_across() const { return across / same; }
  bool operator==(const PairMoments&) const = default;
};
PairMoments operator+(const PairMoments& a, const PairMoments& b);
PairMoments operator*(double factor, const PairMoments& a);
PairMoments operator/(const PairMoments& a, double divisor);

// Of tokens (sequences, tokens, d). The sums over pairs come from sums of vectors,
// sum over i, j of v_i . v_j = |sum of v_i|^2: no matrix of all pairs is formed. A kind without
// pairs (one token per sequence, one sequence) has mean 0.
PairMoments pair_moments(const Tensor& tokens);

}  // namespace normlab
