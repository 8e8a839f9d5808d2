#pragma once

#include <cstdint>
#include <vector>

#include "experiments/theory/pair_moments.hpp"
#include "nn/transformer/placement.hpp"

// What an infinitely wide, untrained transformer does to its tokens and to their gradients, in the
// simplified setting of Xiong et al. (2020, section 3): uniform attention, ReLU, no biases,
// Gaussian weights. docs/theory.md derives every line.
namespace normlab {

struct MeanFieldSetting {
  Placement placement = Placement::post;  // post, pre or res_post
  std::int64_t layers = 12, width = 256, ffn = 256;
  std::int64_t tokens = 16, sequences = 8, classes = 10;
  PairMoments input{1.0, 0.0, 0.0};  // x . x' / d of what enters the first block
  double value_gain = 1.0;           // d Var(W_V); 1 for Xavier's d x d
  double output_gain = 1.0;          // d Var(W_O); 1 if there is no W_O
  bool one_label_per_sequence = false;
};

// Per coordinate: x . x' / d.
struct BlockMoments {
  PairMoments input;            // of the residual stream that enters the block
  PairMoments after_attention;  // of the sum x + branch, before a norm on the residual stream
  PairMoments after_ffn;        // post-norm: what the second norm receives (Lemma 2)
};

// One entry per block. Throws std::invalid_argument for sizes below 1, an input without size, and
// placements that are not derived.
std::vector<BlockMoments> forward_moments(const MeanFieldSetting& setting);
// What leaves the last block.
PairMoments output_moments(const MeanFieldSetting& setting,
                           const std::vector<BlockMoments>& blocks);

// Mean delta . delta' of delta = dLoss/d(output of the last norm), the loss being the mean
// cross-entropy of N tokens with labels drawn uniformly, logits by a Xavier matrix (d, classes).
PairMoments output_gradient(const MeanFieldSetting& setting,
                            const std::vector<BlockMoments>& blocks);

// Squared Frobenius norms of dLoss/dW, one per block.
struct SquaredNorms {
  std::vector<double> w1{}, w2{}, wv{};
};
// Their expectations. `output` may be output_gradient's, or one that was measured.
SquaredNorms expected_gradients(const MeanFieldSetting& setting,
                                const std::vector<BlockMoments>& blocks, const PairMoments& output);

}  // namespace normlab
