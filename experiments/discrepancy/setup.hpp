#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normlab::discrepancy {

// What the tokens of a sequence are made of.
enum class TokenSource {
  patches,     // of digit images, embedded by a random matrix, plus a random vector per position
  gaussian,    // independent standard normal numbers
  vocabulary,  // words drawn with Zipf's frequencies: a random vector each, plus one per position
};
// What the classifier is asked for.
enum class Labels {
  per_sequence,      // one class for all tokens of a sequence: the digit, or one drawn uniformly
  per_token,         // drawn uniformly for each token
  word_frequencies,  // drawn for each token, class k with frequency proportional to 1/k (Zipf)
};
std::string name(TokenSource source);
std::string name(Labels labels);

// All that differs between the experiment of the source article (the defaults) and the one in
// Figure 3 of Xiong et al. (2020).
struct Setup {
  TokenSource source = TokenSource::patches;
  Labels labels = Labels::per_sequence;
  // The article has 256 images; 32 give the same but for a larger incoherent part.
  std::int64_t sequences = 32, tokens = 16;  // tokens of each sequence; patches: 4, 16 or 64
  std::int64_t mini_batches = 1;             // the norm is the mean of the norms of so many
  std::int64_t classes = 10;
  std::int64_t width = 64, heads = 4, ffn_ratio = 4;  // feed-forward width / width
  bool zero_query_key = false;                        // uniform attention
  // Standard deviation of the logits; 0: what Xavier's rule gives, sqrt(2 width / (width +
  // classes)). 1 is that of an output matrix tied to word embeddings N(0, 1/width).
  double logit_deviation = 0.0;
  double label_smoothing = 0.0;
  double dropout = 0.0;
  bool embedding_norm = false;  // a LayerNorm on the embedded tokens
  // Before each block the residual stream reads, by attention, the output of a second stack of the
  // same depth and placement: an encoder-decoder whose decoder is measured.
  bool cross_attention = false;

  std::int64_t ffn() const { return ffn_ratio * width; }
  bool operator==(const Setup&) const = default;
};

// One setup, and in what it differs from which other.
struct Ablation {
  std::string name;
  std::string base;    // empty for a setup that stands by itself
  std::string change;  // in words
  Setup setup;
};

// From the article's setup towards the paper's, one change at a time; pairs of changes that
// explain the single ones; and from the paper's setup back.
std::vector<Ablation> all_ablations();
std::vector<std::string> ablation_names();
// The ablations of these names, which must exist.
std::vector<Ablation> ablations_named(const std::vector<std::string>& names);

// A network of such a setup takes seconds: it gets fewer seeds and more than one thread.
bool is_large(const Setup& setup);

}  // namespace normlab::discrepancy
