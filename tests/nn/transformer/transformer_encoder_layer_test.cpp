#include "nn/transformer/transformer_encoder_layer.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "nn/norms/layer_norm.hpp"
#include "nn/norms/rms_norm.hpp"
#include "tests/nn/transformer/transformer_encoder_layer_cases.hpp"

using namespace normlab;

TEST_CASE("TransformerEncoderLayer: gradients agree with differences") {
  for (const bool norm_first : {false, true}) {
    for (const bool bias : {false, true}) {
      CAPTURE(norm_first);
      CAPTURE(bias);
      TransformerEncoderLayer::Options options = small_options(norm_first);
      options.bias = bias;
      const auto layer = small_layer(options);
      check_module_gradients(*layer, random({2, 3, 6}));
      options.activation = Activation::relu;
      options.norm = [](std::int64_t width) { return std::make_unique<RMSNorm>(width); };
      const auto with_rms = small_layer(options);
      check_module_gradients(*with_rms, random({2, 3, 6}));
    }
  }
}

TEST_CASE("TransformerEncoderLayer: values are observed once each, in the order of the placement") {
  for (const bool norm_first : {false, true}) {
    for (const bool train : {false, true}) {
      CAPTURE(norm_first);
      CAPTURE(train);
      const auto layer = small_layer(small_options(norm_first));
      layer->train(train);
      std::vector<std::string> seen;
      layer->register_hook([&](const std::string& name, const Var&) { seen.push_back(name); });
      evaluate(*layer, random({2, 3, 6}));
      const std::vector<std::string> pre{"input",         "norm1.input",      "self_attn.query",
                                         "self_attn.key", "self_attn.output", "norm2.input",
                                         "linear2.input", "linear2.output",   "ffn.output"};
      const std::vector<std::string> post{
          "input",         "self_attn.query", "self_attn.key", "self_attn.output", "norm1.input",
          "linear2.input", "linear2.output",  "ffn.output",    "norm2.input"};
      CHECK(seen == (norm_first ? pre : post));
    }
  }
}

TEST_CASE("TransformerEncoderLayer: a norm's input is the residual sum, or the stream") {
  const Tensor x = random({2, 3, 6});
  for (const bool norm_first : {false, true}) {
    CAPTURE(norm_first);
    const auto layer = small_layer(small_options(norm_first));
    std::vector<std::pair<std::string, Tensor>> seen;
    layer->register_hook(
        [&](const std::string& name, const Var& value) { seen.emplace_back(name, value.value()); });
    const Tensor y = evaluate(*layer, x);
    const auto value = [&](const std::string& name) {
      for (const auto& [candidate, tensor] : seen) {
        if (candidate == name) return tensor;
      }
      return Tensor();
    };
    CHECK(max_abs_difference(value("input"), x) == 0.0);
    const auto plus = [](Tensor a, const Tensor& b) { return a += b; };
    if (norm_first) {
      CHECK(max_abs_difference(value("norm1.input"), x) == 0.0);
      CHECK(max_abs_difference(value("norm2.input"), plus(x, value("self_attn.output"))) == 0.0);
      CHECK(max_abs_difference(y, plus(value("norm2.input"), value("ffn.output"))) == 0.0);
    } else {
      CHECK(max_abs_difference(value("norm1.input"), plus(x, value("self_attn.output"))) == 0.0);
      const Tensor z = evaluate(layer->norm1, value("norm1.input"));
      CHECK(max_abs_difference(value("norm2.input"), plus(z, value("ffn.output"))) == 0.0);
      CHECK(max_abs_difference(y, evaluate(layer->norm2, value("norm2.input"))) == 0.0);
    }
  }
}

TEST_CASE("TransformerEncoderLayer: dropout acts in train mode only, at all four places") {
  TransformerEncoderLayer::Options options = small_options(true);
  options.dropout = 1.0;
  const auto layer = small_layer(options), plain = small_layer(small_options(true));
  const Tensor x = random({2, 3, 6});
  CHECK(max_abs_difference(evaluate(*layer, x), x) == 0.0);  // both branches dropped
  layer->eval();
  CHECK(max_abs_difference(evaluate(*layer, x), evaluate(*plain, x)) == 0.0);

  options.dropout = 0.5;
  const auto half = small_layer(options), twin = small_layer(options);
  const Tensor first = evaluate(*half, x);
  CHECK(max_abs_difference(evaluate(*twin, x), first) == 0.0);
  CHECK(max_abs_difference(evaluate(*half, x), first) > 0.01);
  for (const Dropout* dropout : {&half->dropout, &half->dropout1, &half->dropout2}) {
    CHECK(dropout->p() == 0.5);
  }
}

TEST_CASE("TransformerEncoderLayer: the norm is the one that the options describe") {
  Generator generator(1);
  TransformerEncoderLayer layer(6, 2, generator,
                                {.dim_feedforward = 10, .layer_norm_eps = 0.5, .bias = false});
  const Tensor x = random({4, 6});
  LayerNorm expected(6, {.eps = 0.5, .bias = false});
  CHECK(layer.norm1.parameters().size() == 1);
  CHECK(max_abs_difference(evaluate(layer.norm1, x), evaluate(expected, x)) == 0.0);

  std::vector<std::int64_t> widths;
  TransformerEncoderLayer with_rms(6, 2, generator, {.norm = [&](std::int64_t width) {
                                     widths.push_back(width);
                                     return std::make_unique<RMSNorm>(width);
                                   }});
  CHECK(widths == std::vector<std::int64_t>{6, 6});
  RMSNorm rms(6);
  CHECK(max_abs_difference(evaluate(with_rms.norm2, x), evaluate(rms, x)) == 0.0);
  CHECK(&with_rms.norm1 != &with_rms.norm2);
}

TEST_CASE("TransformerEncoderLayer: an empty batch gives an empty result, zero gradients") {
  for (const bool norm_first : {false, true}) {
    Generator generator(1);
    TransformerEncoderLayer layer(8, 2, generator, small_options(norm_first));
    check_empty_module(layer, {0, 5, 8}, {0, 5, 8});
  }
}

TEST_CASE("TransformerEncoderLayer: wrong options and inputs are refused") {
  Generator generator(1);
  const auto refused = [&](const TransformerEncoderLayer::Options& options, const char* message) {
    check_refused([&] { TransformerEncoderLayer(6, 2, generator, options); }, message);
  };
  refused({.layer_norm_eps = -1.0}, "[LayerNorm] eps");
  refused({.dropout = 1.5}, "[MultiheadAttention] dropout");
  refused({.dim_feedforward = 0}, "[Linear] features");
  refused({.norm = [](std::int64_t) { return nullptr; }},
          "[TransformerEncoderLayer] norm: must make a module, got none");
  check_refused([&] { TransformerEncoderLayer(6, 4, generator); },
                "[MultiheadAttention] embed_dim: must be a positive multiple");
  for (const bool norm_first : {false, true}) {
    const auto layer = small_layer(small_options(norm_first));
    CHECK_THROWS_AS(evaluate(*layer, random({2, 3, 5})), std::invalid_argument);
    CHECK_THROWS_AS(evaluate(*layer, random({3, 6})), std::invalid_argument);
  }
}
