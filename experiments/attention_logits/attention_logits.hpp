#pragma once

#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/lab/stats/statistics.hpp"

namespace normlab::attention_logits {

// What becomes of attention as the query and key weights grow, which is what training did to
// ViT-22B until attention was close to one-hot (Dehghani et al. 2023, section 3.1): W_Q and W_K are
// multiplied by a scale, with and without query-key normalization.
struct Options {
  std::int64_t width = 64, heads = 4;
  std::int64_t images = 16;
  // "none", "cosine" (Swin V2) or a norm in nn::norms() that reads one token at a time.
  std::vector<std::string> variants{"none", "layernorm", "rmsnorm", "cosine"};
  std::vector<double> scales{1.0, 4.0, 16.0, 64.0, 256.0};
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4};
};

// The variants that an option may name.
std::vector<std::string> known_variants();

// Throws std::invalid_argument before anything is computed.
void check(const Options& options);

// The first block's attention of one network, and what was measured of it.
struct Point {
  std::string variant;
  double scale;
  std::uint64_t seed;
  // Over all heads, queries and keys of all images.
  double largest_logit = 0.0;  // |q k / sqrt(head width)|, or |cos(q, k) / tau|
  // Of the weights a query gives its T keys, divided by ln T: 1 if they are equal, 0 if one key has
  // all. The mean over queries.
  double entropy = 0.0;
  double one_hot = 0.0;             // share of queries with a key of weight above 0.99
  double query_key_gradient = 0.0;  // norm of d(mean square of the output) / d(W_Q, W_K)

  bool all_finite() const;
};

struct Measured {
  Options options;
  std::vector<Point> points;  // by variant, scale, seed
};
Measured measure(const Options& options, const lab::Run& run);

// No logit of this variant can be larger, whatever the weights, while its norm is as it was built:
// sqrt(head width) for the norms that bring a token of width d to the size sqrt(d) (layernorm,
// rmsnorm, scalenorm, convnext), since |q k| <= |q| |k|; 1/tau = 10 for cosine; infinity, which is
// no bound, for the others.
double logit_bound(const Options& options, const std::string& variant);

// The points of one variant and scale, over seeds.
struct Summary {
  std::string variant;
  double scale;
  Spread largest_logit, entropy, one_hot, gradient;
};
std::vector<Summary> summaries(const Measured& measured);

lab::Results results(const Measured& measured);

// The program: 0; 1 if a logit is above its bound or a number not finite; 2 for bad usage.
int main(int argc, const char* const* argv);

}  // namespace normlab::attention_logits
