// Query-key normalization and cosine attention inside MultiheadAttention.
#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "core/ops/softmax.hpp"
#include "nn/init.hpp"
#include "nn/layers/multihead_attention.hpp"
#include "nn/norms/norm_registry.hpp"
#include "nn/norms/rms_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

constexpr std::int64_t kWidth = 8, kHeads = 2, kHeadWidth = 4;

using Options = MultiheadAttention::Options;

std::unique_ptr<MultiheadAttention> attention_with(const Options& options) {
  Generator generator(1);
  auto attention = std::make_unique<MultiheadAttention>(kWidth, kHeads, generator, options);
  randomize_parameters(*attention);
  return attention;
}

Options with_norm(const char* name) { return {.qk_norm = nn::norms().at(name).factory()}; }

Tensor attention_weights(MultiheadAttention& attention, const Tensor& x) {
  Tape tape;
  return attention.attend(tape.constant(x)).weights;
}

// Query and key weights times a factor, the value weights as they are.
void scale_queries_and_keys(MultiheadAttention& attention, double factor) {
  auto rows = attention.in_proj_weight.value.mutable_values();
  for (double& weight : rows.first(2 * kWidth * kWidth)) weight *= factor;
}

// Queries (part 0), keys (1) or values (2) of each head, (N, H, T, E).
Var split_heads(MultiheadAttention& attention, const Var& x, std::int64_t part) {
  Tape& tape = x.tape();
  const std::int64_t first = part * kWidth, last = first + kWidth;
  const Var y = linear(x, slice(tape.watch(attention.in_proj_weight), 0, first, last),
                       slice(tape.watch(*attention.in_proj_bias), 0, first, last));
  return permute(reshape(y, {x.shape()[0], x.shape()[1], kHeads, kHeadWidth}), {0, 2, 1, 3});
}

Var joined(MultiheadAttention& attention, const Var& scores, const Var& x) {
  const Var heads = matmul(softmax(scores), split_heads(attention, x, 2));
  return attention.out_proj.forward(reshape(permute(heads, {0, 2, 1, 3}), x.shape().extents()));
}

// softmax(cos(q, k) / tau) v; the lengths carry the machine epsilon that keeps 0/0 away.
Var reference_with_cosine(MultiheadAttention& attention, const Var& x) {
  const auto to_unit_length = [](const Var& v) {
    const double eps = kHeadWidth * std::numeric_limits<double>::epsilon();
    return v / sqrt(sum(square(v), {-1}, true) + eps);
  };
  const Var cosines =
      matmul(to_unit_length(split_heads(attention, x, 0)),
             to_unit_length(split_heads(attention, x, 1)), Transpose::no, Transpose::yes);
  const Var inverse_tau = exp(clamp(x.tape().watch(*attention.logit_scale), -1e9, std::log(100.0)));
  return joined(attention, cosines * reshape(inverse_tau, {kHeads, 1, 1}), x);
}

Var reference_with_rms_norm(MultiheadAttention& attention, const Var& x) {
  const auto normalized = [&](std::int64_t part, Layer& norm) {
    const Var v = split_heads(attention, x, part);
    const double eps = std::numeric_limits<double>::epsilon();
    return v / sqrt(mean(square(v), {-1}, true) + eps) * x.tape().watch(norm.parameter("weight"));
  };
  const Var scores = matmul(normalized(0, *attention.q_norm), normalized(1, *attention.k_norm),
                            Transpose::no, Transpose::yes);
  return joined(attention, scores / std::sqrt(static_cast<double>(kHeadWidth)), x);
}

// The layer and the reference agree in value, input gradient and every parameter gradient.
void check_same_layer(MultiheadAttention& attention,
                      const std::function<Var(MultiheadAttention&, const Var&)>& reference) {
  const std::vector<Tensor> x{random({2, 3, kWidth})};
  attention.zero_grad();
  const Evaluation got = evaluate([&](const Vars& in) { return attention.forward(in[0]); }, x);
  std::vector<Tensor> gradients;
  for (Parameter* parameter : attention.parameters()) gradients.push_back(parameter->grad);
  attention.zero_grad();
  const Evaluation expected =
      evaluate([&](const Vars& in) { return reference(attention, in[0]); }, x);
  CHECK(relative_error(got.value, expected.value) <= 1e-12);
  CHECK(relative_error(got.gradients[0], expected.gradients[0]) <= 1e-12);
  std::size_t i = 0;
  for (const auto& [case_name, parameter] : attention.named_parameters()) {
    const auto& name = case_name;
    CAPTURE(name);
    CHECK(relative_error(gradients[i++], parameter->grad) <= 1e-12);
  }
}

// ln of the largest over the smallest weight of any query: the largest difference of two logits.
double logit_spread(const Tensor& weights) {
  double spread = 0.0;
  const std::int64_t keys = weights.width();
  for (std::int64_t row = 0; row < weights.rows(); ++row) {
    const auto of_query = weights.values().subspan(static_cast<std::size_t>(row * keys),
                                                   static_cast<std::size_t>(keys));
    const auto [low, high] = std::ranges::minmax(of_query);
    spread = std::max(spread, std::log(high / low));
  }
  return spread;
}

// An RMSNorm that records its outputs.
class Observed : public Layer {
 public:
  Observed(std::int64_t width, std::vector<Tensor>& outputs)
      : norm_(register_module("norm", std::make_unique<RMSNorm>(width))), outputs_(outputs) {}
  Var forward(const Var& x) override {
    const Var y = norm_.forward(x);
    outputs_.push_back(y.value());
    return y;
  }

 private:
  RMSNorm& norm_;
  std::vector<Tensor>& outputs_;
};

}  // namespace

TEST_CASE("QK-norm: gradients agree with differences, those of both norms included") {
  for (const char* name : {"layernorm", "rmsnorm"}) {
    CAPTURE(name);
    const auto attention = attention_with(with_norm(name));
    CHECK(attention->q_norm != attention->k_norm);
    // A key norm's bias adds the same to all scores of a query: softmax ignores it.
    const std::vector<std::string> zero =
        attention->named_parameters().back().first == "k_norm.bias"
            ? std::vector<std::string>{"k_norm.bias"}
            : std::vector<std::string>{};
    check_module_gradients(*attention, random({2, 3, kWidth}), zero);
  }
}

TEST_CASE("QK-norm: the layer equals its reference implementation") {
  check_same_layer(*attention_with(with_norm("rmsnorm")), reference_with_rms_norm);
}

TEST_CASE(
    "MultiheadAttention: the weights are the softmax of the queries and keys that hooks see") {
  for (const Options& options : {Options{}, with_norm("layernorm"), Options{.cosine = true}}) {
    const auto attention = attention_with(options);
    std::vector<Tensor> seen;
    attention->register_hook([&](const std::string& name, const Var& value) {
      if (name == "query" || name == "key") seen.push_back(value.value());
    });
    const Tensor x = random({2, 3, kWidth});
    const Tensor weights = attention_weights(*attention, x);
    REQUIRE(seen.size() == 2);
    Tape tape;
    const auto per_head = [&](const Tensor& t) {
      return permute(reshape(tape.constant(t), {2, 3, kHeads, kHeadWidth}), {0, 2, 1, 3});
    };
    const double scale = options.cosine ? 1.0 : 1.0 / std::sqrt(kHeadWidth);
    const Var logits =
        matmul(per_head(seen[0]), per_head(seen[1]), Transpose::no, Transpose::yes) * scale;
    CHECK(max_abs_difference(softmax(logits).value(), weights) < 1e-14);
    attention->remove_hook();
    CHECK(max_abs_difference(attention_weights(*attention, x), weights) == 0.0);
  }
}

TEST_CASE("QK-norm: a scale of zero gives uniform weights, and has a gradient") {
  const auto attention = attention_with(with_norm("rmsnorm"));
  const Tensor x = random({2, 5, kWidth});
  CHECK(max_abs_difference(attention_weights(*attention, x), Tensor::full({2, kHeads, 5, 5}, 0.2)) >
        0.01);
  Parameter& scale = attention->q_norm->parameter("weight");
  scale.value = Tensor::zeros({kHeadWidth});
  CHECK(max_abs_difference(attention_weights(*attention, x),
                           Tensor::full({2, kHeads, 5, 5}, 0.2)) <= 1e-16);
  Tape tape;
  tape.backward(attention->forward(tape.constant(x)), random({2, 5, kWidth}, 2));
  CHECK(norm(scale.grad) > 0.01);
}

TEST_CASE("QK-norm: every head by itself, its queries and keys with rms 1") {
  std::vector<Tensor> seen;
  const auto attention = attention_with({.qk_norm = [&seen](std::int64_t width) {
    CHECK(width == kHeadWidth);
    return std::make_unique<Observed>(width, seen);
  }});
  for (Layer* norm : {attention->q_norm, attention->k_norm}) {
    norm->parameter("norm.weight").value = Tensor::ones({kHeadWidth});
  }
  // Head 1 is a thousand times head 0, for queries and keys.
  auto rows = attention->in_proj_weight.value.mutable_values();
  auto biases = attention->in_proj_bias->value.mutable_values();
  for (std::size_t part = 0; part < 2; ++part) {
    for (std::size_t row = kHeadWidth; row < kWidth; ++row) {
      biases[part * kWidth + row] *= 1e3;
      for (std::size_t i = 0; i < kWidth; ++i) rows[(part * kWidth + row) * kWidth + i] *= 1e3;
    }
  }
  attention_weights(*attention, random({2, 3, kWidth}));
  REQUIRE(seen.size() == 2);
  for (const Tensor& y : seen) {
    REQUIRE(y.numel() == 2 * 3 * kWidth);
    const Tensor heads = y.reshaped({12, kHeadWidth});
    for (std::int64_t head = 0; head < 12; ++head) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < kHeadWidth; ++i) sum += std::pow(heads.at({head, i}), 2);
      CHECK(std::abs(std::sqrt(sum / kHeadWidth) - 1.0) <= 1e-12);
    }
  }
}

TEST_CASE("QK-norm: logits no longer grow with the query and key weights") {
  const Tensor x = random({2, 3, kWidth});
  const auto spreads = [&](const Options& options) {
    const auto attention = attention_with(options);
    init::zeros(attention->in_proj_bias->value);
    const double before = logit_spread(attention_weights(*attention, x));
    scale_queries_and_keys(*attention, 4.0);
    return std::pair{before, logit_spread(attention_weights(*attention, x))};
  };
  const auto [plain, plain_scaled] = spreads({});
  CHECK(std::abs(plain_scaled / plain - 16.0) <= 1e-9);
  const auto [rms, rms_scaled] = spreads(with_norm("rmsnorm"));
  CHECK(std::abs(rms_scaled / rms - 1.0) <= 1e-9);
}

TEST_CASE("QK-norm: self-attention is attention of three equal inputs, masks as ever") {
  for (const Options& options : {with_norm("layernorm"), Options{.cosine = true}}) {
    const auto attention = attention_with(options);
    check_same([&](const Vars& in) { return attention->attend(in[0]).output; },
               [&](const Vars& in) { return attention->attend(in[0], in[0], in[0]).output; },
               {random({2, 3, kWidth})}, 1e-14);
    Tape tape;
    const auto result =
        attention->attend(tape.constant(random({1, 2, kWidth})), {.is_causal = true});
    CHECK(result.weights.at({0, 1, 0, 0}) == 1.0);
    CHECK(result.weights.at({0, 1, 0, 1}) == 0.0);
    check_empty_module(*attention, {0, 5, kWidth}, {0, 5, kWidth});
  }
}

TEST_CASE("QK-norm and cosine attention: heads of one or two numbers are refused") {
  Generator generator(1);
  const std::string message =
      "[MultiheadAttention] embed_dim: must leave at least 3 numbers per head for query-key "
      "normalization or cosine attention, got ";
  for (const Options& options :
       {with_norm("layernorm"), with_norm("rmsnorm"), Options{.cosine = true}}) {
    check_refused([&] { MultiheadAttention(2, 2, generator, options); },
                  message + "2 with 2 heads");
    check_refused([&] { MultiheadAttention(4, 2, generator, options); },
                  message + "4 with 2 heads");
    MultiheadAttention narrowest(6, 2, generator, options);
    CHECK(all_finite(evaluate(narrowest, random({1, 3, 6}))));
  }
}

TEST_CASE("cosine attention: the layer equals its reference implementation") {
  const auto attention = attention_with({.cosine = true});
  check_same_layer(*attention, reference_with_cosine);
  check_module_gradients(*attention, random({2, 3, kWidth}));
}

TEST_CASE("cosine attention: starts at tau 0.1 in every head") {
  Generator generator(1);
  MultiheadAttention attention(kWidth, kHeads, generator, {.cosine = true});
  REQUIRE(attention.logit_scale != nullptr);
  CHECK(attention.named_parameters()[2].first == "logit_scale");
  CHECK(relative_error(attention.logit_scale->value, Tensor::full({kHeads}, std::log(10.0))) <=
        1e-15);
}

TEST_CASE("cosine attention: logits stay within 1 / tau, however large queries and keys are") {
  const auto attention = attention_with({.cosine = true});
  attention->logit_scale->value = Tensor({kHeads}, {std::log(10.0), std::log(3.0)});
  scale_queries_and_keys(*attention, 1e6);
  const Tensor weights = attention_weights(*attention, random({2, 6, kWidth}));
  CHECK(logit_spread(weights) <= 20.0);
  CHECK(logit_spread(weights) > 6.0);
  // Without normalization the weights are one-hot, so their ratio overflows.
  const auto plain = attention_with({});
  scale_queries_and_keys(*plain, 1e6);
  CHECK(logit_spread(attention_weights(*plain, random({2, 6, kWidth}))) > 700.0);
}

TEST_CASE("cosine attention: tau is held at 0.01, and passes no gradient beyond") {
  const auto attention = attention_with({.cosine = true});
  const Tensor x = random({2, 3, kWidth});
  const auto outputs_at = [&](double inverse_tau) {
    attention->logit_scale->value = Tensor::full({kHeads}, std::log(inverse_tau));
    return evaluate(*attention, x);
  };
  const Tensor at_limit = outputs_at(100.0);
  CHECK(max_abs_difference(outputs_at(50.0), at_limit) > 1e-6);
  CHECK(max_abs_difference(outputs_at(1e5), at_limit) == 0.0);
  attention->zero_grad();
  Tape tape;
  tape.backward(attention->forward(tape.constant(x)), random({2, 3, kWidth}, 2));
  CHECK(norm(attention->logit_scale->grad) == 0.0);
}

TEST_CASE("cosine attention: a query of zeros attends to all keys alike, with finite gradients") {
  const auto attention = attention_with({.cosine = true});
  init::zeros(attention->in_proj_bias->value);
  const Tensor x = map(random({1, 3, kWidth}), [](double) { return 0.0; });
  CHECK(max_abs_difference(attention_weights(*attention, x),
                           Tensor::full({1, kHeads, 3, 3}, 1.0 / 3.0)) <= 1e-16);
  Tape tape;
  const Var in = tape.variable(x);
  tape.backward(attention->forward(in), random({1, 3, kWidth}, 2));
  CHECK(all_finite(in.grad()));
}
