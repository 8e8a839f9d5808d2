#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/tensor.hpp"

// Greedy and beam search for the sequence of tokens that a model finds likely. The model is a
// function from prefixes to log-probabilities, so a search knows nothing of networks.
namespace normlab {

// The beginning of an output: the begin token and the tokens chosen so far. `sentence` is the index
// of the input if several are decoded at once.
struct Prefix {
  std::int64_t sentence = 0;
  std::vector<std::int64_t> tokens;
};

// ln P(next token | prefix), (prefixes, vocabulary). Minus infinity forbids a token.
using NextLogProbabilities = std::function<Tensor(const std::vector<Prefix>& prefixes)>;

struct SearchOptions {
  std::int64_t beam_size = 4;
  std::int64_t max_length = 64;  // in tokens, with the end token and without the begin token
  std::int64_t begin = 1, end = 2;
  double length_penalty = 0.0;  // alpha of length_penalty(); 0: none
};

// What the log-probability of `length` tokens, the end token included, is divided by:
// ((5 + length) / 6)^alpha (Wu et al. 2016, equation 14). Without it the shortest output has an
// advantage, since every token makes an output less likely.
double length_penalty(std::int64_t length, double alpha);

struct Hypothesis {
  // Without the begin token. The last token is the end token unless the output was cut off at
  // max_length.
  std::vector<std::int64_t> tokens;
  double log_probability = 0.0;  // the sum over the tokens
  double score = 0.0;            // log_probability / length_penalty
};

// Both searches throw std::invalid_argument for options out of range, and for a function that
// returns another shape, a NaN, a positive number, or minus infinity for every token.
//
// The likeliest token, step by step, for several inputs at once. Ties go to the lowest token id.
// Finished sequences are not passed to `next`.
std::vector<Hypothesis> greedy_search(const NextLogProbabilities& next, std::int64_t sentences,
                                      const SearchOptions& options = {});

// Outputs of one input, best score first. Each step forms every continuation of the live outputs
// and keeps the beam_size likeliest; those that end or have max_length tokens are complete, the
// others stay live. Ties go to the continuation of the likelier output, then to the lower token id.
// Ends when no live output can still beat the best complete one; those returned behind the best are
// what was completed on the way.
//
// With a beam of 1 this is greedy search; with a beam wide enough for every output, the best
// output there is.
std::vector<Hypothesis> beam_search(const NextLogProbabilities& next,
                                    const SearchOptions& options = {}, std::int64_t sentence = 0);

}  // namespace normlab
