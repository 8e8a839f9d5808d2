// Padding is not read: key_padding_mask over tokens that hold NaN or infinity.
#include <cmath>

#include <doctest/doctest.h>

#include "nn/layers/multihead_attention.hpp"
#include "nn/norms/norm_registry.hpp"
#include "tests/nn/layers/multihead_attention_cases.hpp"

using namespace normlab;

namespace {

// Two sequences of three tokens; the last token of the first is padding.
const Tensor kPadding({2, 3}, {0, 0, 1, 0, 0, 0});

Tensor tokens_with_padding(double value) {
  Tensor x = random({2, 3, 6});
  for (std::int64_t i = 12; i < 18; ++i) x.mutable_data()[i] = value;
  return x;
}

// The tokens that are not padding.
Tensor real_tokens(const Tensor& y) {
  std::vector<double> values(y.values().begin(), y.values().end());
  values.erase(values.begin() + 12, values.begin() + 18);
  return Tensor({5, 6}, values);
}

struct Pass {
  Tensor output, dx;
  std::vector<Tensor> gradients;
};

// The backward pass of a loss that ignores padding.
Pass pass_with(MultiheadAttention& attention, double padding, bool cross) {
  attention.zero_grad();
  Tape tape;
  const Var x = tape.variable(tokens_with_padding(padding));
  const Var queries = tape.constant(random({2, 3, 6}, 5));
  const AttentionMasks masks{.key_padding_mask = kPadding};
  const Var y =
      cross ? attention.attend(queries, x, x, masks).output : attention.attend(x, masks).output;
  Tensor dy = random({2, 3, 6}, 7);
  for (std::int64_t i = 12; i < 18; ++i) dy.mutable_data()[i] = 0.0;
  tape.backward(y, dy);
  Pass pass{y.value(), x.grad(), {}};
  for (const Parameter* parameter : attention.parameters()) {
    pass.gradients.push_back(parameter->grad);
  }
  return pass;
}

}  // namespace

TEST_CASE("MultiheadAttention: what padding holds changes no other token and no gradient") {
  const MultiheadAttention::Options kinds[] = {
      {}, {.qk_norm = nn::norms().at("rmsnorm").factory()}, {.cosine = true}};
  for (const MultiheadAttention::Options& options : kinds) {
    Generator generator(1);
    MultiheadAttention attention(6, 2, generator, options);
    randomize_parameters(attention);
    for (const bool cross : {false, true}) {
      const Pass clean = pass_with(attention, 1.0, cross);
      for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        CAPTURE(cross);
        CAPTURE(value);
        const Pass pass = pass_with(attention, value, cross);
        CHECK(relative_error(real_tokens(pass.output), real_tokens(clean.output)) <= 1e-14);
        CHECK(relative_error(pass.dx, clean.dx) <= 1e-14);
        for (std::int64_t i = 12; i < 18; ++i) CHECK(pass.dx.data()[i] == 0.0);
        for (std::size_t i = 0; i < pass.gradients.size(); ++i) {
          CHECK(relative_error(pass.gradients[i], clean.gradients[i]) <= 1e-13);
        }
      }
    }
  }
}

TEST_CASE("MultiheadAttention: a padding mask holds 0 and 1 only") {
  const auto attention = small_attention();
  for (const double value : {0.5, -1.0, 2.0, std::nan(""), -HUGE_VAL}) {
    CAPTURE(value);
    check_refused(
        [&] {
          attended(*attention, random({1, 2, 6}),
                   {.key_padding_mask = Tensor({1, 2}, {0.0, value})});
        },
        "[MultiheadAttention] key_padding_mask: must hold nothing but 0 and 1, got");
  }
}

TEST_CASE("MultiheadAttention: sizes that overflow are refused") {
  Generator generator(1);
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  check_refused([&] { MultiheadAttention(kHuge, kHuge, generator); },
                "[MultiheadAttention] embed_dim: must be below 2^31");
  check_refused([&] { MultiheadAttention(6, kHuge, generator); },
                "[MultiheadAttention] embed_dim: must be a positive multiple");
}
