#pragma once

#include <cstdint>

#include "core/tensor.hpp"

// Sums over tokens that replace sums over pairs of tokens: no matrix of all tokens by all tokens is
// ever formed.
namespace normlab::discrepancy {

// Mean cosine similarity of two tokens of one sequence, and of tokens of two sequences. With u the
// tokens at unit length and S their sum over a sequence of n,
//   sum over pairs of one sequence of u.u' = |S|^2 - n,
//   sum over pairs of two sequences        = |sum of all S|^2 - sum of |S|^2.
// A zero token counts as orthogonal to all.
class TokenSimilarity {
 public:
  // Tokens (sequences, n, d); the same n and d in every call.
  void add(const Tensor& tokens);
  void add(const TokenSimilarity& other);

  // NaN where there is no pair.
  double within() const;
  double across() const;

 private:
  Tensor sum_;                                       // of all u, (d)
  double sum_of_squares_ = 0.0;                      // of |S|^2
  double self_ = 0.0;                                // of |u|^2
  double tokens_ = 0.0, pairs_of_a_sequence_ = 0.0;  // the latter with each token and itself
};

// The gradient of a matrix W2 with rows y_t = W2 h_t is the sum over tokens t of delta_t h_t^T,
// delta_t = dLoss/dy_t. Its squared norm is a sum over pairs of tokens of (h.h')(delta.delta'):
//   self           pairs of a token with itself, |h|^2 |delta|^2: what is left of the square if
//                  tokens contribute in unrelated directions (the incoherent part);
//   same_sequence  pairs of two tokens of a sequence;
// and the rest, of tokens of two sequences, is what the square of the whole gradient has beyond
// these two.
struct GradientSquares {
  double self = 0.0, same_sequence = 0.0;

  // h (sequences, n, f) and delta (sequences, n, d).
  void add(const Tensor& h, const Tensor& delta);
};

}  // namespace normlab::discrepancy
