// Tested by tests/experiments/theory/simplified_transformer_test.cpp.
#include "experiments/theory/simplified_transformer.hpp"

#include "core/check.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "nn/init.hpp"

namespace normlab {

namespace {

Var norm(const Var& x) {
  return layer_norm(x, {x.value().width()}, std::nullopt, std::nullopt, /*eps=*/0.0);
}

Tensor xavier(std::int64_t out, std::int64_t in, Generator& generator) {
  Tensor matrix = Tensor::uninitialized({out, in});
  init::xavier_normal(matrix, generator);
  return matrix;
}

}  // namespace

SimplifiedBlock::SimplifiedBlock(const SimplifiedOptions& options, Generator& generator)
    : wv(register_parameter("wv", xavier(options.width, options.width, generator))),
      w1(register_parameter("w1", xavier(options.ffn, options.width, generator))),
      w2(register_parameter("w2", xavier(options.width, options.ffn, generator))),
      placement_(options.placement) {
  check(placement_ == Placement::post || placement_ == Placement::pre ||
            placement_ == Placement::res_post,
        "SimplifiedBlock", "placement", "must be post, pre or res-post", name(placement_));
}

// Softmax of zero scores: every weight is 1 / tokens. One vector per sequence, (sequences, 1, d).
Var SimplifiedBlock::attention(const Var& x) {
  return linear(mean(x, {1}, /*keepdim=*/true), x.tape().watch(wv));
}

Var SimplifiedBlock::feed_forward(const Var& x) {
  return linear(relu(linear(x, x.tape().watch(w1))), x.tape().watch(w2));
}

Var SimplifiedBlock::forward(const Var& x) {
  const auto after_attention = [this](const Var& sum) {
    observe("after_attention", sum);
    return sum;
  };
  const auto after_ffn = [this](const Var& sum) {
    observe("after_ffn", sum);
    return sum;
  };
  if (placement_ == Placement::post) {
    const Var z = norm(after_attention(x + attention(x)));
    return norm(after_ffn(z + feed_forward(z)));
  }
  if (placement_ == Placement::pre) {
    const Var z = after_attention(x + attention(norm(x)));
    return after_ffn(z + feed_forward(norm(z)));
  }
  const Var z = after_attention(x + norm(attention(x)));
  return after_ffn(z + norm(feed_forward(z)));
}

SimplifiedTransformer::SimplifiedTransformer(const SimplifiedOptions& options, Generator& generator)
    : final_norm_(entry(options.placement).needs_final_norm) {
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.push_back(&register_module("blocks." + std::to_string(i),
                                      std::make_unique<SimplifiedBlock>(options, generator)));
  }
  head_ = &register_parameter("head", xavier(options.classes, options.width, generator));
}

Var SimplifiedTransformer::forward(const Var& x) {
  Var stream = x;
  for (SimplifiedBlock* block : blocks) stream = block->forward(stream);
  if (final_norm_) stream = norm(stream);
  observe("head.input", stream);
  return linear(stream, x.tape().watch(*head_));
}

}  // namespace normlab
