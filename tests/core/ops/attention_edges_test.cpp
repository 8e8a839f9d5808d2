// Masks, refused arguments, and inputs at the edges: no elements, NaN, huge scores.
#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/attention.hpp"
#include "tests/core/ops/attention_cases.hpp"

using namespace normlab;
using namespace normlab::attention_cases;

TEST_CASE("attention: a query without any key gives zeros and finite gradients, not NaN") {
  // Causal forbids keys 1 and 2 to query 0, the mask forbids key 0 to all.
  const Setting setting{.mask = Tensor({3}, {-kInfinity, 0, 0}), .causal = true};
  const std::vector<Tensor> x = inputs({2, 2}, 3, 3, 4, 5);
  const Evaluation y = evaluate(separate(setting), x);
  for (std::int64_t head = 0; head < 4; ++head) {
    for (std::int64_t j = 0; j < 5; ++j) CHECK(y.value.data()[head * 15 + j] == 0.0);
    for (std::int64_t j = 0; j < 4; ++j) CHECK(y.gradients[0].data()[head * 12 + j] == 0.0);
  }
  CHECK(all_finite(y.value));
  for (const Tensor& gradient : y.gradients) CHECK(all_finite(gradient));
  check_same(
      separate(setting), [&](const Vars& in) { return composed(in, setting); }, x);

  const Setting nothing{.mask = Tensor::full({3}, -kInfinity)};
  const Evaluation none = evaluate(separate(nothing), x);
  CHECK(norm(none.value) == 0.0);
  for (const Tensor& gradient : none.gradients) CHECK(norm(gradient) == 0.0);
}

// One head: q, k, v of 3 tokens and width 2.
std::vector<Tensor> with_poisoned_token(std::int64_t token, double poison) {
  std::vector<Tensor> x = inputs({1}, 3, 3, 2, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 2; ++j) x[i].mutable_data()[2 * token + j] = poison;
  }
  return x;
}

TEST_CASE("attention: NaN or infinity in a key that a mask forbids goes nowhere") {
  const Setting no_last{.mask = Tensor({3}, {0, 0, -kInfinity})};
  const Tensor dy = random({1, 3, 2}, 9);
  for (double poison : {std::nan(""), kInfinity, -kInfinity}) {
    CAPTURE(poison);
    std::vector<Tensor> x = with_poisoned_token(2, poison);
    x[0] = random({1, 3, 2}, 8);  // only the key and its value are poisoned
    std::vector<Tensor> clean = x;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
      clean[i].mutable_data()[4] = clean[i].mutable_data()[5] = 1.0;
    const Evaluation y = evaluate(separate(no_last), x, dy);
    const Evaluation expected = evaluate(separate(no_last), clean, dy);
    CHECK(relative_error(y.value, expected.value) <= 1e-15);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(relative_error(y.gradients[i], expected.gradients[i]) <= 1e-14);
    }
    for (std::int64_t j : {4, 5}) {  // exactly zero
      CHECK(y.gradients[1].data()[j] == 0.0);
      CHECK(y.gradients[2].data()[j] == 0.0);
    }
  }
}

TEST_CASE("attention: causal queries do not read NaN in later tokens") {
  const Setting causal{.causal = true};
  const Tensor dy({1, 3, 2}, {1, 2, 3, 4, 0, 0});
  const Evaluation y = evaluate(separate(causal), with_poisoned_token(2, std::nan("")), dy);
  const Evaluation expected = evaluate(separate(causal), with_poisoned_token(2, 0.5), dy);
  for (std::int64_t j = 0; j < 4; ++j) {
    CHECK(std::abs(y.value.data()[j] - expected.value.data()[j]) <= 1e-15);
    CHECK(std::abs(y.gradients[0].data()[j] - expected.gradients[0].data()[j]) <= 1e-15);
  }
  for (std::int64_t j : {4, 5}) CHECK(std::isnan(y.value.data()[j]));  // it reads itself
}

TEST_CASE("attention: a NaN in the gradient of one query does not reach keys it may not see") {
  const Setting causal{.causal = true};
  const std::vector<Tensor> x = inputs({1}, 3, 3, 2, 2);
  Tensor dy = random({1, 3, 2}, 9);
  dy.mutable_data()[0] = std::nan("");  // query 0 sees key 0 only
  const Evaluation y = evaluate(separate(causal), x, dy);
  for (std::int64_t j = 2; j < 6; ++j) {
    CHECK(std::isfinite(y.gradients[1].data()[j]));
    CHECK(std::isfinite(y.gradients[2].data()[j]));
  }
  CHECK(std::isnan(y.gradients[2].data()[0]));
}

TEST_CASE("attention: a boolean mask with numbers other than 0 and 1 is refused") {
  check_refused(
      [] {
        mask_where_forbidden(Tensor({2}, {0, -kInfinity}));
      },
      "[mask_where_forbidden] forbidden: must hold only 0 and 1, got -inf");
  check_refused(
      [] {
        mask_where_allowed(Tensor({2}, {1, 0.5}));
      },
      "[mask_where_allowed] allowed: must hold only 0 and 1, got 0.5");
}

TEST_CASE("attention: one boolean mask forbids where it is 1 and the other allows") {
  const Tensor flags({2, 2}, {0, 1, 0, 0});  // true only for query 0 and key 1
  const std::vector<Tensor> x{Tensor::zeros({2, 1}), Tensor::zeros({2, 1}),
                              Tensor({2, 1}, {10, 20})};
  const Tensor forbidden = evaluate(separate({.mask = mask_where_forbidden(flags)}), x).value;
  CHECK(relative_error(forbidden, Tensor({2, 1}, {10, 15})) == 0.0);
  const Tensor allowed = evaluate(separate({.mask = mask_where_allowed(flags)}), x).value;
  CHECK(relative_error(allowed, Tensor({2, 1}, {20, 0})) == 0.0);
  const Tensor causal = evaluate(separate({.causal = true}), x).value;
  CHECK(relative_error(causal, Tensor({2, 1}, {10, 15})) == 0.0);
}

TEST_CASE("attention: small products and BLAS read the same mask the same way") {
  for (std::int64_t tokens : {5, 80}) {  // the small products and BLAS
    const Tensor mask = some_forbidden({tokens, tokens});
    const Tensor qkv = random({2, tokens, 3 * 64});
    const Function by_layout[] = {
        self(1, {.mask = mask}),
        [&](const Vars& in) {
          return multi_head(1, {.mask = mask})(
              {slice(in[0], 2, 0, 64), slice(in[0], 2, 64, 128), slice(in[0], 2, 128, 192)});
        },
        [&](const Vars& in) {
          return composed(
              {slice(in[0], 2, 0, 64), slice(in[0], 2, 64, 128), slice(in[0], 2, 128, 192)},
              {.mask = mask});
        }};
    check_same(by_layout[0], by_layout[1], {qkv}, 1e-15);
    check_same(by_layout[0], by_layout[2], {qkv});
  }
}

TEST_CASE("attention: causal equals a mask that forbids the future whatever the lengths") {
  for (std::int64_t keys : {3, 4, 6}) {
    check_same(separate({.causal = true}), separate({.mask = future_forbidden(4, keys)}),
               inputs({2, 3}, 4, keys, 2, 5), 0.0);
  }
}

TEST_CASE("attention: arguments that do not fit are refused") {
  Tape tape;
  const auto zeros = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
  const auto sdpa = [&](const Shape& q, const Shape& k, const Shape& v,
                        const AttentionOptions& options = {}) {
    return [=, &tape] {
      const auto var = [&](const Shape& shape) { return tape.variable(Tensor::zeros(shape)); };
      scaled_dot_product_attention(var(q), var(k), var(v), options);
    };
  };
  check_refused(sdpa({2, 3, 4}, {2, 5, 4}, {5, 4}), "[attention] q, k, v: must have the same rank");
  check_refused(sdpa({4}, {4}, {4}), "[attention] q, k, v: must have the same rank of at least 2");
  check_refused(sdpa({3, 4}, {5, 6}, {5, 4}),
                "[attention] q, k, v: must be (..., Tq, E), (..., Tk, E) and (..., Tk, Ev), got "
                "(3, 4), (5, 6) and (5, 4)");
  check_refused(sdpa({3, 4}, {5, 4}, {6, 4}), "[attention] q, k, v: must be (..., Tq, E)");
  check_refused(sdpa({2, 3, 4}, {1, 5, 4}, {2, 5, 4}), "[attention] q, k, v: must be");
  check_refused(sdpa({3, 4}, {5, 4}, {5, 4}, {.mask = Tensor::zeros({5, 3})}), "[attention] ");
  check_refused(sdpa({3, 4}, {5, 4}, {5, 4}, {.mask = Tensor::zeros({2, 1, 3, 5})}),
                "[attention] mask: must broadcast to (1, 1, 3, 5), got (2, 1, 3, 5)");
  check_refused(sdpa({3, 4}, {5, 4}, {5, 4}, {.dropout_p = 0.5}),
                "[attention] generator: must be given with dropout_p > 0");
  check_refused(sdpa({3, 4}, {5, 4}, {5, 4}, {.dropout_p = 1.5}),
                "[attention] dropout_p: must be a probability in [0, 1], got 1.5");
  check_refused(
      [&] {
        multi_head_attention(zeros({2, 3, 7}), zeros({2, 3, 7}), zeros({2, 3, 7}), 2);
      },
      "[attention] q: must be (sequences, tokens, width) with a width that 2 divides, "
      "got (2, 3, 7)");
  check_refused(
      [&] {
        multi_head_attention(zeros({2, 3, 4}), zeros({2, 5, 6}), zeros({2, 5, 4}), 2);
      },
      "[attention] k: must have shape (2, 5, 4), got (2, 5, 6)");
  check_refused(
      [&] {
        multi_head_attention(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({3, 5, 4}), 2);
      },
      "[attention] ");
  check_refused(
      [&] {
        self_attention(zeros({2, 3, 8}), 2);
      },
      "[attention] qkv: must be (sequences, tokens, width) with a width that 3 * 2 divides");
  check_refused([&] { self_attention(zeros({3, 12}), 2); }, "[attention] qkv: must be");
  check_refused(
      [&] {
        self_attention(zeros({2, 3, 12}), 0);
      },
      "[attention] heads: must be positive, got 0");
  constexpr std::int64_t kTooMany = std::int64_t{1} << 62;  // three times that is not an integer
  check_refused([&] { self_attention(zeros({2, 3, 12}), kTooMany); }, "[attention] qkv: must be");
  check_refused(
      [&] {
        multi_head_attention(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 5, 4}), kTooMany);
      },
      "[attention] q: must be");
}

TEST_CASE("attention: inputs without sequences or tokens or keys give zeros") {
  const Tensor none = Tensor::zeros({0, 5, 8});
  check_empty(separate({}), {none, none, none}, {0, 5, 8});
  check_empty(multi_head(2, {.causal = true}), {none, none, none}, {0, 5, 8});
  check_empty(self(2, {}), {Tensor::zeros({0, 5, 24})}, {0, 5, 8});
  check_empty(self(2, {.dropout_p = 0.5}), {Tensor::zeros({3, 0, 24})}, {3, 0, 8});
  // No query: keys and values get zero gradients. No key: the query gets zeros.
  check_empty(separate({}), {Tensor::zeros({2, 0, 4}), random({2, 3, 4}), random({2, 3, 5})},
              {2, 0, 5});
  const std::vector<Tensor> no_keys{random({2, 3, 4}), Tensor::zeros({2, 0, 4}),
                                    Tensor::zeros({2, 0, 5})};
  check_empty(separate({}), no_keys, {2, 3, 5});
  CHECK(norm(evaluate(separate({}), no_keys).value) == 0.0);
}

TEST_CASE("attention: NaN in a query stays in its row") {
  std::vector<Tensor> x = inputs({}, 3, 4, 2, 5);
  x[0].mutable_data()[2] = std::nan("");
  const Evaluation y = evaluate(separate({}), x);
  for (std::int64_t j = 0; j < 5; ++j) {
    CHECK(std::isfinite(y.value.at({0, j})));
    CHECK(std::isnan(y.value.at({1, j})));
    CHECK(std::isfinite(y.value.at({2, j})));
  }
  CHECK(std::isfinite(y.gradients[0].at({0, 0})));
  CHECK(std::isfinite(y.gradients[0].at({2, 0})));
}

TEST_CASE("attention: large scores saturate instead of overflowing") {
  const std::vector<Tensor> x{Tensor({1, 1}, {1e100}), Tensor({2, 1}, {1e100, -1e100}),
                              Tensor({2, 1}, {3, 4})};
  const Evaluation y = evaluate(separate({}), x);
  CHECK(y.value.item() == 3.0);
  for (const Tensor& gradient : y.gradients) CHECK(all_finite(gradient));
}
