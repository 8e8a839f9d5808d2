#pragma once

#include <string>
#include <vector>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/untrained/encoder_model.hpp"

namespace normlab {

// What becomes of attention as the query and key weights grow, which is what training did to
// ViT-22B until attention was close to one-hot (Dehghani et al. 2023, section 3.1): W_Q and W_K are
// multiplied by a scale, with and without query-key normalization.
struct AttentionLogitsOptions {
  std::int64_t width = 64, heads = 4;
  std::int64_t images = 16;
  // "none", "cosine" (Swin V2) or a norm in nn::norms() that reads one token at a time.
  std::vector<std::string> variants{"none", "layernorm", "rmsnorm", "cosine"};
  std::vector<double> scales{1.0, 4.0, 16.0, 64.0, 256.0};
  std::vector<std::uint64_t> seeds{0, 1, 2, 3, 4};
};

struct AttentionLogitsCell {
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
};

struct AttentionLogitsResult {
  AttentionLogitsOptions options;
  std::vector<AttentionLogitsCell> cells;  // by variant, scale, seed

  bool all_finite() const;
};

// The variants that an option may name.
std::vector<std::string> attention_variants();

// No logit of this variant can be larger, whatever the weights, while its norm is as it was built:
// sqrt(head width) for the norms that bring a token of width d to the size sqrt(d) (layernorm,
// rmsnorm, scalenorm, convnext), since |q k| <= |q| |k|; 1/tau = 10 for cosine; infinity, which is
// no bound, for the others.
double logit_bound(const AttentionLogitsOptions& options, const std::string& variant);

// Throws std::invalid_argument before anything is computed.
void check_options(const AttentionLogitsOptions& options);

AttentionLogitsResult run_attention_logits(const AttentionLogitsOptions& options,
                                           const Digits& digits, int threads,
                                           const JobProgress& progress = {});

std::string text_of(const AttentionLogitsResult& result);
std::string json_of(const AttentionLogitsResult& result);

// The program: 0; 1 if a logit is above its bound or a number not finite; 2 for bad usage.
int attention_logits_main(int argc, const char* const* argv);

}  // namespace normlab
