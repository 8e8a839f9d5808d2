#include "nn/layers/multihead_attention.hpp"

#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "core/ops/shape_ops.hpp"
#include "tests/nn/layers/multihead_attention_cases.hpp"

using namespace normlab;

TEST_CASE("MultiheadAttention: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "multihead_attention")) {
    if (fixture.option<bool>("weights_seeded"))
      continue;  // in multihead_attention_reference_test.cpp
    const auto attention = make_attention(fixture);
    const AttentionMasks masks = make_masks(fixture, "attn_mask", "key_padding_mask");
    check_module_fixture(*attention, fixture, [&](const Vars& in) {
      return fixture.option<bool>("self_attention")
                 ? attention->attend(in[0], masks).output
                 : attention->attend(in[0], in[1], in[2], masks).output;
    });
  }
}

TEST_CASE("MultiheadAttention: attention weights are PyTorch's, per head and averaged") {
  int cases = 0;
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "multihead_attention")) {
    if (!fixture.option<bool>("need_weights")) continue;
    ++cases;
    CAPTURE(fixture.name);
    const auto attention = make_attention(fixture);
    load_parameters(*attention, fixture);
    const AttentionMasks masks = make_masks(fixture, "attn_mask", "key_padding_mask");
    Tape tape;
    const auto input = [&](const char* name) {
      return tape.constant(tensor_of(fixture.input(name)));
    };
    Tensor weights =
        fixture.option<bool>("self_attention")
            ? attention->attend(input("x"), masks).weights
            : attention->attend(input("query"), input("key"), input("value"), masks).weights;
    if (fixture.option<bool>("average_attn_weights")) {
      weights = MultiheadAttention::average_over_heads(weights);
    }
    CHECK(relative_error(weights, tensor_of(fixture.output("weights"))) <= 1e-12);
  }
  CHECK(cases >= 10);
}

TEST_CASE("MultiheadAttention: gradients agree with differences") {
  for (const bool bias : {true, false}) {
    CAPTURE(bias);
    const auto attention = small_attention({.bias = bias});
    CHECK((attention->in_proj_bias != nullptr) == bias);
    CHECK((attention->out_proj.bias != nullptr) == bias);
    check_module_gradients(*attention, random({2, 3, 6}));
    const GradcheckResult cross = check_gradients(
        [&](const Vars& in) { return attention->attend(in[0], in[1], in[2]).output; },
        {random({2, 3, 6}, 1), random({2, 5, 6}, 2), random({2, 5, 6}, 3)});
    CHECK_MESSAGE(cross.passed, cross.report);
  }
}

TEST_CASE("MultiheadAttention: a token gets its own heads side by side") {
  // All scores are 0, and value and output projections are the identity. The mask is causal, so
  // token 0 sees itself and token 1 the mean of both. Heads merged without a transpose would give
  // (1, 2), (10, 20).
  Generator generator(1);
  MultiheadAttention attention(2, 2, generator);
  attention.in_proj_weight.value = Tensor({6, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
  attention.out_proj.weight.value = Tensor({2, 2}, {1, 0, 0, 1});
  const Tensor y = attended(attention, Tensor({1, 2, 2}, {1, 10, 3, 30}), {.is_causal = true});
  CHECK(relative_error(y, Tensor({1, 2, 2}, {1, 10, 2, 20})) <= 1e-15);
}

TEST_CASE("MultiheadAttention: permuted tokens give permuted outputs") {
  const auto attention = small_attention();
  const std::vector<std::int64_t> order{2, 0, 3, 1};
  const auto permuted = [&](const Tensor& x) {
    Tape tape;
    return index_select(tape.constant(x.reshaped({4, 6})), order).value().reshaped({1, 4, 6});
  };
  const Tensor x = random({1, 4, 6});
  CHECK(relative_error(evaluate(*attention, permuted(x)), permuted(evaluate(*attention, x))) <=
        1e-14);
}

TEST_CASE("MultiheadAttention: weights of a query sum to 1, before dropout") {
  const auto attention = small_attention({.dropout = 0.5});
  Tape tape;
  const Var x = tape.constant(random({2, 3, 6}));
  const MultiheadAttention::Result train = attention->attend(x);
  attention->eval();
  const MultiheadAttention::Result eval = attention->attend(x);
  CHECK(train.weights.shape().str() == "(2, 2, 3, 3)");
  CHECK(max_abs_difference(train.weights, eval.weights) == 0.0);
  CHECK(max_abs_difference(train.output.value(), eval.output.value()) > 0.01);
  for (std::int64_t row = 0; row < 12; ++row) {
    const auto weights = eval.weights.values().subspan(static_cast<std::size_t>(3 * row), 3);
    CHECK(std::abs(std::accumulate(weights.begin(), weights.end(), 0.0) - 1.0) <= 1e-15);
  }
}

TEST_CASE("MultiheadAttention: dropout is reproducible, differs between passes, off in eval") {
  const auto attention = small_attention({.dropout = 0.5}),
             twin = small_attention({.dropout = 0.5});
  const auto plain = small_attention();
  const Tensor x = random({2, 3, 6});
  const Tensor first = evaluate(*attention, x), second = evaluate(*attention, x);
  CHECK(max_abs_difference(evaluate(*twin, x), first) == 0.0);
  CHECK(max_abs_difference(second, first) > 0.01);
  attention->eval();
  CHECK(max_abs_difference(evaluate(*attention, x), evaluate(*plain, x)) == 0.0);

  const auto all = small_attention({.dropout = 1.0});
  const Tensor bias_only = evaluate(*all, x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    CHECK(bias_only.data()[i] == all->out_proj.bias->value.data()[i % 6]);
  }
}

TEST_CASE("MultiheadAttention: starts as PyTorch's: packed xavier, biases zero") {
  Generator generator(5), same(5);
  MultiheadAttention attention(64, 4, generator);
  Linear out_proj(64, 64, same);  // drawn first
  CHECK(max_abs_difference(attention.out_proj.weight.value, out_proj.weight.value) == 0.0);
  CHECK(norm(attention.out_proj.bias->value) == 0.0);
  CHECK(norm(attention.in_proj_bias->value) == 0.0);
  // The standard deviation of the packed (192, 64) is 0.0883883, so uniform in +- sqrt(3) times it.
  const double bound = std::sqrt(3.0) * 0.08838834764831845;
  Tensor in_proj = Tensor::zeros({192, 64});
  same.fill_uniform(in_proj.mutable_values(), -bound, bound);
  CHECK(relative_error(attention.in_proj_weight.value, in_proj) <= 1e-14);
  CHECK(generator.next64() == same.next64());
}

TEST_CASE("MultiheadAttention: no sequences, no tokens, no keys") {
  Generator generator(1);
  MultiheadAttention attention(8, 2, generator);
  check_empty_module(attention, {0, 5, 8}, {0, 5, 8});
  check_empty_module(attention, {2, 0, 8}, {2, 0, 8});
  randomize_parameters(attention);
  Tape tape;
  const Var none = tape.constant(Tensor::zeros({2, 0, 8}));
  const MultiheadAttention::Result result =
      attention.attend(tape.constant(random({2, 3, 8})), none, none);
  CHECK(result.weights.shape().str() == "(2, 2, 3, 0)");
  for (std::int64_t i = 0; i < 48; ++i) {
    CHECK(result.output.value().data()[i] == attention.out_proj.bias->value.data()[i % 8]);
  }
}

TEST_CASE("MultiheadAttention: heads must divide the width") {
  Generator generator(1);
  check_refused([&] { MultiheadAttention(6, 4, generator); },
                "[MultiheadAttention] embed_dim: must be a positive multiple of the number of "
                "heads, got 6 with 4 heads");
  check_refused([&] { MultiheadAttention(6, 0, generator); }, "[MultiheadAttention] embed_dim");
  check_refused([&] { MultiheadAttention(6, -2, generator); }, "[MultiheadAttention] embed_dim");
  check_refused([&] { MultiheadAttention(0, 1, generator); }, "[MultiheadAttention] embed_dim");
  check_refused([&] { MultiheadAttention(6, 2, generator, {.dropout = 1.5}); },
                "[MultiheadAttention] dropout: must be a probability");
}
