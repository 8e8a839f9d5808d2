#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "nn/module.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// The transformer that Xiong et al. (2020, section 3) analyse: query and key matrices are zero, so
// that every token attends to all tokens of its sequence alike; one head, no output projection, no
// biases, norms without parameters. All matrices are Xavier normal.
struct SimplifiedOptions {
  Placement placement = Placement::post;  // post, pre or res_post
  std::int64_t layers = 12, width = 256, ffn = 256, classes = 10;
};

// One block, tokens (sequences, tokens, d) -> the same shape.
// Observed: after_attention and after_ffn, the sums x + branch before a norm on the residual
// stream.
class SimplifiedBlock : public Layer {
 public:
  SimplifiedBlock(const SimplifiedOptions& options, Generator& generator);
  Var forward(const Var& x) override;

  Parameter& wv;  // (d, d)
  Parameter& w1;  // (ffn, d)
  Parameter& w2;  // (d, ffn)

 private:
  Var attention(const Var& x);
  Var feed_forward(const Var& x);

  Placement placement_;
};

// The stack with the final norm that its placement needs, and a linear classifier of every token:
// -> logits (sequences, tokens, classes). Observed: head.input, what the classifier reads. Matrices
// are drawn block by block, wv, w1, w2, the classifier's last.
class SimplifiedTransformer : public Layer {
 public:
  SimplifiedTransformer(const SimplifiedOptions& options, Generator& generator);
  Var forward(const Var& x) override;

  std::vector<SimplifiedBlock*> blocks;

 private:
  bool final_norm_;
  Parameter* head_;  // (classes, d)
};

}  // namespace normlab
