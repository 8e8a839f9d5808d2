#pragma once

#include "core/random.hpp"
#include "core/tape.hpp"

// Scaled dot-product attention, softmax(scale * Q K^T + mask) V, as one op. The three functions
// differ only in how the heads lie in memory.
namespace normlab {

struct AttentionOptions {
  // Added to the scores before the softmax; -infinity forbids. Broadcasts to (N, H, Tq, Tk).
  Tensor mask{};
  // Query i attends to keys 0 .. i only.
  bool causal = false;
  // 0: the usual 1 / sqrt(E).
  double scale = 0.0;
  // Dropout on the attention weights; needs a generator if positive.
  double dropout_p = 0.0;
  Generator* generator = nullptr;
};

struct Attention {
  Var output;
  // The softmax weights (N, H, Tq, Tk), before dropout; values only, no gradient flows through
  // them.
  Tensor weights;
};

// A query whose keys are all forbidden has no weights: it gets zero weights and zero output, and
// sends zero gradients (docs/architecture.md), never NaN.
//
// A key that is forbidden to a query is not read for it, by a mask of -infinity or by `causal`: NaN
// or infinity there reaches neither the query's output nor its gradients, and the gradient that the
// key receives from that query is exactly zero.

// q (..., Tq, E), k (..., Tk, E), v (..., Tk, Ev) -> (..., Tq, Ev), the leading axes equal; as
// torch.nn.functional.scaled_dot_product_attention. The last leading axis counts as heads, those
// before it as N.
Attention scaled_dot_product_attention(const Var& q, const Var& k, const Var& v,
                                       const AttentionOptions& options = {});

// q (N, Tq, H E), k (N, Tk, H E), v (N, Tk, H Ev) -> (N, Tq, H Ev): head h is the h-th of H equal
// parts of the last axis, read and written in place.
Attention multi_head_attention(const Var& q, const Var& k, const Var& v, std::int64_t heads,
                               const AttentionOptions& options = {});

// The same with q, k and v side by side in one tensor (N, T, 3 H E), as one projection makes them.
Attention self_attention(const Var& qkv, std::int64_t heads, const AttentionOptions& options = {});

// A mask of 0 and 1 in which 1 forbids (torch.nn.MultiheadAttention's boolean masks), or 1 allows
// (torch.nn.functional's), as the additive mask used here. Throws std::invalid_argument for other
// numbers: an additive mask given by mistake would forbid what it should not.
Tensor mask_where_forbidden(const Tensor& forbidden);
Tensor mask_where_allowed(const Tensor& allowed);

}  // namespace normlab
