#include "core/ops/attention.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "tests/core/ops/attention_cases.hpp"

using namespace normlab;
using namespace normlab::attention_cases;

TEST_CASE("attention: values and weights and gradients equal PyTorch's") {
  for (const FixtureCase& fixture :
       load_fixture_cases("attention_ops.json", "scaled_dot_product_attention")) {
    const auto kind = fixture.option<std::string>("mask_kind");
    AttentionOptions options;
    if (kind != "none") options.mask = tensor_of(fixture.input("attn_mask"));
    if (kind == "bool_take_part") options.mask = mask_where_allowed(options.mask);
    options.causal = fixture.option<bool>("is_causal");
    options.scale = fixture.option_or("scale", 0.0);
    check_fixture(fixture, [&](const Vars& in) {
      const Attention result = scaled_dot_product_attention(in[0], in[1], in[2], options);
      CHECK(relative_error(result.weights, tensor_of(fixture.output("weights"))) <= 1e-12);
      return result.output;
    });
  }
}

TEST_CASE("attention: gradients agree with differences for every rank and mask and option") {
  for (const Setting& setting : kSettings) {
    CAPTURE(setting.mask.str());
    check_backward(separate(setting), inputs({2, 3}, 4, 5, 2, 6));
  }
  check_backward(separate({}), inputs({}, 4, 3, 2, 5));
  check_backward(separate({.causal = true}), inputs({3}, 5, 2, 4, 1));
  check_backward(separate({}), inputs({2, 1, 3}, 2, 4, 5, 3));
  check_backward(multi_head(3, {.causal = true, .dropout_p = 0.2}), inputs({2}, 4, 5, 6, 9));
  check_backward(self(2, {.mask = some_forbidden({3, 3})}), {random({2, 3, 3 * 2 * 4})});
}

TEST_CASE("attention: equals its composition from primitives") {
  for (const Setting& setting : kSettings) {
    CAPTURE(setting.mask.str());
    check_same(
        separate(setting), [&](const Vars& in) { return composed(in, setting); },
        inputs({2, 3}, 4, 5, 2, 6));
  }
}

TEST_CASE("attention: the three layouts of heads compute the same") {
  constexpr std::int64_t kHeads = 3;
  for (const Setting& setting : kSettings) {
    check_same(
        multi_head(kHeads, setting),
        [&](const Vars& in) {
          return merge_heads(
              separate(setting)({split_heads(in[0], kHeads), split_heads(in[1], kHeads),
                                 split_heads(in[2], kHeads)}));
        },
        inputs({2}, 4, 5, 6, 9), 1e-15);
  }
  for (const Setting& setting : {Setting{}, Setting{some_forbidden({4, 4}), true, 0.7, 0.4}}) {
    check_same(
        self(kHeads, setting),
        [&](const Vars& in) {
          return multi_head(kHeads, setting)(
              {slice(in[0], 2, 0, 6), slice(in[0], 2, 6, 12), slice(in[0], 2, 12, 18)});
        },
        {random({2, 4, 18})}, 1e-15);
  }
}

TEST_CASE("attention: large heads go through BLAS and compute the same") {
  // Tq Tk E = 90 * 70 * 48 > 64^3; the composition multiplies by matmul.
  for (const Setting& setting : {Setting{}, Setting{some_forbidden({90, 70}), true, 0.3, 0.2}}) {
    check_same(
        separate(setting), [&](const Vars& in) { return composed(in, setting); },
        inputs({2}, 90, 70, 48, 65));
    check_same(
        multi_head(2, setting),
        [&](const Vars& in) {
          const Vars split{split_heads(in[0], 2), split_heads(in[1], 2), split_heads(in[2], 2)};
          return merge_heads(composed(split, setting));
        },
        inputs({1}, 90, 70, 96, 130));
  }
  check_same(self(2, {}),
             [](const Vars& in) {
               const auto part = [&](std::int64_t i) {
                 return split_heads(slice(in[0], 2, i * 128, (i + 1) * 128), 2);
               };
               return merge_heads(composed({part(0), part(1), part(2)}, {}));
             },
             {random({1, 80, 3 * 128})});
}

TEST_CASE("attention: one Var as q and k and v gets all contributions") {
  check_backward(
      [](const Vars& in) {
        return separate({})({in[0], in[0], in[0]});
      },
      {random({2, 3, 4})});
}

TEST_CASE("attention: weights are before dropout and carry no gradient") {
  Tape tape;
  Generator generator(kDropoutSeed);
  const std::vector<Tensor> x = inputs({2, 3}, 4, 5, 2, 6);
  const Var q = tape.variable(x[0]), k = tape.variable(x[1]), v = tape.variable(x[2]);
  const Tensor plain = scaled_dot_product_attention(q, k, v).weights;
  const AttentionOptions options{.dropout_p = 0.5, .generator = &generator};
  CHECK(relative_error(scaled_dot_product_attention(q, k, v, options).weights, plain) == 0.0);
  CHECK(plain.shape().str() == "(2, 3, 4, 5)");
  for (std::int64_t row = 0; row < plain.rows(); ++row) {
    double total = 0.0;
    for (std::int64_t j = 0; j < 5; ++j) total += plain.data()[row * 5 + j];
    CHECK(std::abs(total - 1.0) <= 1e-15);
  }
}
