#include "nn/transformer/transformer_decoder_layer.hpp"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "nn/init.hpp"
#include "nn/norms/rms_norm.hpp"
#include "tests/nn/transformer/transformer_decoder_layer_cases.hpp"

using namespace normlab;

namespace {

Tensor plus(Tensor a, const Tensor& b) { return a += b; }

// What the layer observes, by name.
std::vector<std::pair<std::string, Tensor>> shown_by(TransformerDecoderLayer& layer,
                                                     const Tensor& x, const Tensor& memory) {
  std::vector<std::pair<std::string, Tensor>> seen;
  layer.register_hook(
      [&](const std::string& name, const Var& value) { seen.emplace_back(name, value.value()); });
  decoded(layer, x, memory);
  layer.remove_hook();
  return seen;
}

}  // namespace

TEST_CASE("TransformerDecoderLayer: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture :
       load_fixture_cases("decoders.json", "transformer_decoder_layer")) {
    Generator generator(1);
    TransformerDecoderLayer layer(fixture.option<std::int64_t>("d_model"),
                                  fixture.option<std::int64_t>("nhead"), generator,
                                  make_block_options(fixture));
    check_decoder_fixture(layer, fixture);
  }
}

TEST_CASE(
    "TransformerDecoderLayer: gradients agree with differences, those of the memory included") {
  for (const bool norm_first : {false, true}) {
    CAPTURE(norm_first);
    TransformerDecoderLayer::Options options = small_options(norm_first);
    options.norm = [](std::int64_t width) { return std::make_unique<RMSNorm>(width); };
    const auto layer = small_decoder_layer(options);
    const AttentionMasks masks{.is_causal = true};
    const AttentionMasks memory_masks{.key_padding_mask = Tensor({2, 4}, {0, 0, 0, 1, 0, 0, 1, 1})};
    check_gradients_of_two(*layer, random({2, 3, 6}), random({2, 4, 6}, 2),
                           [&](const Var& x, const Var& memory) {
                             return layer->forward(x, memory, masks, memory_masks);
                           });
  }
}

TEST_CASE("TransformerDecoderLayer: values are observed once each, in the order of the placement") {
  for (const bool norm_first : {false, true}) {
    CAPTURE(norm_first);
    const auto layer = small_decoder_layer(small_options(norm_first));
    std::vector<std::string> expected{"input"};
    const auto branch = [&](const char* norm, std::vector<std::string> points) {
      points.insert(norm_first ? points.begin() : points.end(), norm);
      expected.insert(expected.end(), points.begin(), points.end());
    };
    branch("norm1.input", {"self_attn.query", "self_attn.key", "self_attn.output"});
    branch("norm2.input", {"multihead_attn.query", "multihead_attn.key", "multihead_attn.output"});
    branch("norm3.input", {"linear2.input", "linear2.output", "ffn.output"});
    for (const bool train : {false, true}) {
      layer->train(train);
      std::vector<std::string> names;
      for (const auto& [name, value] : shown_by(*layer, random({2, 3, 6}), random({2, 4, 6}))) {
        names.push_back(name);
      }
      CHECK(names == expected);
    }
  }
}

TEST_CASE("TransformerDecoderLayer: each norm's input is the residual sum, or the stream") {
  const Tensor x = random({2, 3, 6}), memory = random({2, 4, 6}, 2);
  for (const bool norm_first : {false, true}) {
    CAPTURE(norm_first);
    const auto layer = small_decoder_layer(small_options(norm_first));
    const auto seen = shown_by(*layer, x, memory);
    const auto value = [&](const std::string& name) {
      const auto found = std::ranges::find_if(seen, [&](const auto& e) { return e.first == name; });
      return found == seen.end() ? Tensor() : found->second;
    };
    const Tensor n1 = value("norm1.input"), n2 = value("norm2.input"), n3 = value("norm3.input");
    const Tensor y = decoded(*layer, x, memory);
    const auto same = [](const Tensor& a, const Tensor& b) {
      return max_abs_difference(a, b) == 0;
    };
    if (norm_first) {
      CHECK(same(n1, x));
      CHECK(same(n2, plus(x, value("self_attn.output"))));
      CHECK(same(n3, plus(n2, value("multihead_attn.output"))));
      CHECK(same(y, plus(n3, value("ffn.output"))));
    } else {
      CHECK(same(n1, plus(x, value("self_attn.output"))));
      CHECK(same(n2, plus(evaluate(layer->norm1, n1), value("multihead_attn.output"))));
      CHECK(same(n3, plus(evaluate(layer->norm2, n2), value("ffn.output"))));
      CHECK(same(y, evaluate(layer->norm3, n3)));
    }
  }
}

TEST_CASE("TransformerDecoderLayer: dropout acts in train mode only, on all three branches") {
  TransformerDecoderLayer::Options options = small_options(true);
  options.dropout = 1.0;
  const auto layer = small_decoder_layer(options), plain = small_decoder_layer(small_options(true));
  const Tensor x = random({2, 3, 6}), memory = random({2, 4, 6}, 2);
  CHECK(max_abs_difference(decoded(*layer, x, memory), x) == 0.0);
  layer->eval();
  CHECK(max_abs_difference(decoded(*layer, x, memory), decoded(*plain, x, memory)) == 0.0);
  options.dropout = 0.5;
  const auto half = small_decoder_layer(options), twin = small_decoder_layer(options);
  const Tensor first = decoded(*half, x, memory);
  CHECK(max_abs_difference(decoded(*twin, x, memory), first) == 0.0);
  CHECK(max_abs_difference(decoded(*half, x, memory), first) > 0.01);
  for (const Dropout* dropout :
       {&half->dropout, &half->dropout1, &half->dropout2, &half->dropout3}) {
    CHECK(dropout->p() == 0.5);
  }
}

TEST_CASE("TransformerDecoderLayer: no token sees a later one if causal, and none sees padding") {
  for (const bool norm_first : {false, true}) {
    const auto layer = small_decoder_layer(small_options(norm_first));
    const AttentionMasks causal{.is_causal = true};
    const AttentionMasks padding{.key_padding_mask = Tensor({1, 4}, {0, 0, 1, 0})};
    Tensor x = random({1, 3, 6}), memory = random({1, 4, 6}, 2);
    const Tensor before = decoded(*layer, x, memory, causal, padding);
    for (std::int64_t i = 0; i < 6; ++i) {
      x.mutable_data()[2 * 6 + i] += 1.0;       // the last token
      memory.mutable_data()[2 * 6 + i] += 1.0;  // the one that is padding
    }
    const Tensor after = decoded(*layer, x, memory, causal, padding);
    for (std::int64_t i = 0; i < 2 * 6; ++i) CHECK(after.data()[i] == before.data()[i]);
    CHECK(max_abs_difference(after, before) > 0.01);
    memory.mutable_data()[0] += 1.0;
    CHECK(max_abs_difference(decoded(*layer, x, memory, causal, padding), after) > 1e-3);
  }
}

TEST_CASE("TransformerDecoderLayer: a sentence that is all padding gives finite numbers") {
  const AttentionMasks masks{.key_padding_mask = Tensor({2, 3}, {0, 0, 0, 1, 1, 1}),
                             .is_causal = true};
  const AttentionMasks memory_masks{.key_padding_mask = Tensor({2, 4}, {0, 0, 0, 0, 1, 1, 1, 1})};
  for (const bool norm_first : {false, true}) {
    const auto layer = small_decoder_layer(small_options(norm_first));
    Tape tape;
    const Var x = tape.variable(random({2, 3, 6})), memory = tape.variable(random({2, 4, 6}, 2));
    const Var y = layer->forward(x, memory, masks, memory_masks);
    CHECK(all_finite(y.value()));
    tape.backward(y, random({2, 3, 6}, 3));
    CHECK(all_finite(x.grad()));
    CHECK(all_finite(memory.grad()));
    for (std::int64_t i = 4 * 6; i < 8 * 6; ++i) CHECK(memory.grad().data()[i] == 0.0);
    for (const Parameter* parameter : layer->parameters()) CHECK(all_finite(parameter->grad));
  }
}

TEST_CASE(
    "TransformerDecoderLayer: hyperparameters, norms and attention are those of the options") {
  Generator generator(1);
  TransformerDecoderLayer layer(6, 2, generator,
                                {.dim_feedforward = 10,
                                 .layer_norm_eps = 0.5,
                                 .norm_first = true,
                                 .norm_weight = 0.25,
                                 .cosine_attention = true});
  std::vector<std::pair<std::string, Hyperparameter>> hyperparameters =
      layer.named_hyperparameters();
  const auto hyperparameter = [&](const std::string& name) {
    const auto found =
        std::ranges::find_if(hyperparameters, [&](const auto& e) { return e.first == name; });
    REQUIRE(found != hyperparameters.end());
    return found->second;
  };
  CHECK(hyperparameter("placement") == Hyperparameter(std::string("pre")));
  CHECK(hyperparameter("activation") == Hyperparameter(std::string("relu")));
  for (const char* norm : {"norm1", "norm2", "norm3"}) {
    CHECK(hyperparameter(std::string(norm) + ".eps") == Hyperparameter(0.5));
    CHECK(layer.parameter(std::string(norm) + ".weight").value.data()[5] == 0.25);
  }
  CHECK(hyperparameter("self_attn.attention") == Hyperparameter(std::string("cosine")));
  CHECK(hyperparameter("multihead_attn.attention") == Hyperparameter(std::string("cosine")));
}

TEST_CASE("TransformerDecoderLayer: placements and memories that do not fit are refused") {
  for (const PlacementEntry& placement : nn::placements()) {
    if (placement.name == "post" || placement.name == "pre") continue;
    Generator generator(1);
    check_refused(
        [&] { TransformerDecoderLayer(6, 2, generator, {.placement = placement.placement}); },
        "[TransformerDecoderLayer] placement: must be post or pre, got " + placement.name);
  }
  const auto layer = small_decoder_layer(small_options(true));
  const auto refused = [&](const Shape& x, const Shape& memory) {
    check_refused([&] { decoded(*layer, random(x), random(memory)); },
                  "[TransformerDecoderLayer] memory: must be (N, S, d) with S at least 1, where x "
                  "is (N, T, d), got " +
                      memory.str());
  };
  refused({2, 3, 6}, {2, 4, 5});
  refused({2, 3, 6}, {1, 4, 6});
  refused({2, 3, 6}, {2, 0, 6});
  refused({3, 6}, {4, 6});
}

TEST_CASE("TransformerDecoderLayer: an empty batch gives an empty result and zero gradients") {
  for (const bool norm_first : {false, true}) {
    const auto layer = small_decoder_layer(small_options(norm_first));
    Tape tape;
    const Var y = layer->forward(tape.constant(Tensor::zeros({0, 3, 6})),
                                 tape.constant(Tensor::zeros({0, 4, 6})));
    REQUIRE(y.shape() == Shape{0, 3, 6});
    tape.backward(y, Tensor::zeros({0, 3, 6}));
    for (const Parameter* parameter : layer->parameters()) {
      CHECK(max_abs_difference(parameter->grad, Tensor::zeros(parameter->value.shape())) == 0.0);
    }
  }
}
