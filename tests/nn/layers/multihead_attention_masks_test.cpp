#include <doctest/doctest.h>

#include "core/ops/attention.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/layers/multihead_attention.hpp"
#include "tests/nn/layers/multihead_attention_cases.hpp"

using namespace normlab;

TEST_CASE("MultiheadAttention: a true mask forbids, and forbidding the future is causality") {
  const auto attention = small_attention();
  Tape tape;
  const Var x = tape.constant(random({1, 2, 6}));
  const AttentionMasks no_future{.attn_mask = mask_where_forbidden(Tensor({2, 2}, {0, 1, 0, 0}))};
  const MultiheadAttention::Result result = attention->attend(x, no_future);
  for (const std::int64_t head : {0, 1}) {
    CHECK(result.weights.at({0, head, 0, 0}) == 1.0);
    CHECK(result.weights.at({0, head, 0, 1}) == 0.0);
    CHECK(result.weights.at({0, head, 1, 0}) > 0.0);
    CHECK(result.weights.at({0, head, 1, 1}) > 0.0);
  }
  Tensor changed = x.value();
  for (std::int64_t i = 6; i < 12; ++i) changed.mutable_data()[i] += 1.0;
  const Tensor y = attended(*attention, changed, no_future);
  for (std::int64_t i = 0; i < 6; ++i) CHECK(y.data()[i] == result.output.value().data()[i]);
}

TEST_CASE("MultiheadAttention: one mask means the same by every way to give it") {
  const auto attention = small_attention();
  const Tensor x = random({2, 3, 6});
  // The future is forbidden: as a flag, as a matrix, per head.
  const Tensor future = mask_where_forbidden(Tensor({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0}));
  Tape no_tape;
  const Tensor per_head = stack({4, no_tape.constant(future)}, 0).value();
  const Tensor causal = attended(*attention, x, {.is_causal = true});
  const auto through_cross = [&](const AttentionMasks& masks) {
    Tape tape;
    const Var in = tape.constant(x);
    return attention->attend(in, in, in, masks).output.value();
  };
  for (const AttentionMasks& masks :
       {AttentionMasks{.attn_mask = future}, AttentionMasks{.attn_mask = per_head},
        AttentionMasks{.is_causal = true}}) {
    CHECK(relative_error(attended(*attention, x, masks), causal) <= 1e-14);
    CHECK(relative_error(through_cross(masks), causal) <= 1e-14);
  }
  CHECK(relative_error(evaluate(*attention, x), causal) > 0.01);
  // The last key is forbidden: as padding, as a matrix.
  const AttentionMasks padding{.key_padding_mask = Tensor({2, 3}, {0, 0, 1, 0, 0, 1})};
  const AttentionMasks matrix{
      .attn_mask = mask_where_forbidden(Tensor({3, 3}, {0, 0, 1, 0, 0, 1, 0, 0, 1}))};
  CHECK(relative_error(attended(*attention, x, padding), attended(*attention, x, matrix)) <= 1e-14);
  CHECK(relative_error(through_cross(padding), through_cross(matrix)) <= 1e-14);
}

TEST_CASE("MultiheadAttention: a query without keys gets the output bias, and finite gradients") {
  const auto attention = small_attention();
  // Causal, and token 0 is padding: token 0 may attend to nothing.
  const AttentionMasks masks{.key_padding_mask = Tensor({1, 3}, {1, 0, 0}), .is_causal = true};
  Tape tape;
  const Var x = tape.variable(random({1, 3, 6}));
  const MultiheadAttention::Result result = attention->attend(x, masks);
  for (std::int64_t i = 0; i < 6; ++i) {
    CHECK(result.output.value().data()[i] == attention->out_proj.bias->value.data()[i]);
  }
  CHECK(result.weights.at({0, 1, 0, 0}) == 0.0);
  CHECK(all_finite(result.output.value()));
  tape.backward(result.output, random({1, 3, 6}, 2));
  CHECK(all_finite(x.grad()));
  for (Parameter* parameter : attention->parameters()) CHECK(all_finite(parameter->grad));
}

TEST_CASE("MultiheadAttention: inputs and masks of wrong shapes are refused") {
  const auto attention = small_attention();
  const auto refused = [&](const Shape& x, const AttentionMasks& masks, const char* message) {
    check_refused([&] { attended(*attention, random(x), masks); }, message);
  };
  refused({3, 6}, {}, "[MultiheadAttention] x: must be (sequences, tokens, 6), got (3, 6)");
  refused({2, 3, 5}, {}, "[MultiheadAttention] x: must be (sequences, tokens, 6), got (2, 3, 5)");
  refused({2, 3, 6}, {.attn_mask = Tensor::zeros({2, 3})},
          "[MultiheadAttention] attn_mask: must have shape (3, 3), got (2, 3)");
  refused({2, 3, 6}, {.attn_mask = Tensor::zeros({2, 3, 3})},
          "[MultiheadAttention] attn_mask: must have shape (4, 3, 3), got (2, 3, 3)");
  refused({2, 3, 6}, {.key_padding_mask = Tensor::zeros({3, 2})},
          "[MultiheadAttention] key_padding_mask: must have shape (2, 3), got (3, 2)");
  const auto cross_refused = [&](const Shape& q, const Shape& k, const Shape& v) {
    Tape tape;
    CHECK_THROWS_AS(attention->attend(tape.constant(random(q)), tape.constant(random(k)),
                                      tape.constant(random(v))),
                    std::invalid_argument);
  };
  cross_refused({2, 3, 6}, {2, 5, 6}, {2, 4, 6});
  cross_refused({2, 3, 6}, {3, 5, 6}, {3, 5, 6});
  cross_refused({2, 3, 6}, {2, 5, 4}, {2, 5, 6});
  cross_refused({2, 3, 6}, {2, 5, 6}, {5, 6});
  cross_refused({3, 6}, {5, 6}, {5, 6});
}
