#include "nn/transformer/transformer_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "tests/nn/transformer/transformer_encoder_layer_cases.hpp"

using namespace normlab;

namespace {

// Width 6, two heads, random parameters.
std::unique_ptr<TransformerEncoder> small_encoder(
    std::int64_t num_layers, const TransformerEncoderLayer::Options& options,
    FinalNorm final_norm = FinalNorm::as_placement_needs) {
  Generator generator(1);
  auto encoder = std::make_unique<TransformerEncoder>(num_layers, 6, 2, generator, options,
                                                      EncoderStackOptions{final_norm});
  randomize_parameters(*encoder);
  return encoder;
}

std::int64_t numbers_in(Module& module) {
  std::int64_t count = 0;
  for (const Parameter* parameter : module.parameters()) count += parameter->value.numel();
  return count;
}

}  // namespace

TEST_CASE("TransformerEncoder: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("encoders.json")) {
    Generator generator(1);
    TransformerEncoder encoder(
        fixture.option<std::int64_t>("num_layers"), fixture.option<std::int64_t>("d_model"),
        fixture.option<std::int64_t>("nhead"), generator,
        {.dim_feedforward = fixture.option<std::int64_t>("dim_feedforward"),
         .dropout = 0.0,
         .activation = fixture.option<std::string>("activation") == "gelu" ? Activation::gelu
                                                                           : Activation::relu,
         .layer_norm_eps = fixture.option<double>("layer_norm_eps"),
         .norm_first = fixture.option<bool>("norm_first"),
         .bias = fixture.option<bool>("bias")},
        {fixture.option<bool>("final_norm") ? FinalNorm::on : FinalNorm::off});
    const AttentionMasks masks = make_masks(fixture, "src_mask", "src_key_padding_mask");
    check_module_fixture(encoder, fixture,
                         [&](const Vars& in) { return encoder.forward(in[0], masks); });
  }
}

TEST_CASE("TransformerEncoder: gradients agree with differences") {
  for (const bool norm_first : {false, true}) {
    for (const FinalNorm final_norm : {FinalNorm::on, FinalNorm::off}) {
      const auto encoder = small_encoder(2, small_options(norm_first), final_norm);
      check_module_gradients(*encoder, random({2, 3, 6}));
    }
  }
}

TEST_CASE("TransformerEncoder: the final norm follows the placement, or the explicit choice") {
  const auto names_a_norm = [](bool norm_first, FinalNorm final_norm) {
    const auto encoder = small_encoder(2, small_options(norm_first), final_norm);
    const auto named = encoder->named_parameters();
    const auto finals = std::ranges::count_if(
        named, [](const auto& entry) { return entry.first.starts_with("norm."); });
    CHECK(finals == (encoder->norm != nullptr ? 2 : 0));
    CHECK(named.size() == 2 * 12 + static_cast<std::size_t>(finals));
    for (const TransformerEncoderLayer* layer : encoder->layers) {
      CHECK(layer->options().norm_first == norm_first);
    }
    return encoder->norm != nullptr;
  };
  CHECK(names_a_norm(true, FinalNorm::as_placement_needs));
  CHECK_FALSE(names_a_norm(false, FinalNorm::as_placement_needs));
  for (const bool norm_first : {true, false}) {
    CHECK(names_a_norm(norm_first, FinalNorm::on));
    CHECK_FALSE(names_a_norm(norm_first, FinalNorm::off));
  }
}

TEST_CASE("TransformerEncoder: the final norm is the options' norm of the last stream") {
  auto options = small_options(true);
  options.layer_norm_eps = 0.5;
  const auto with = small_encoder(2, options, FinalNorm::on);
  const auto without = small_encoder(2, options, FinalNorm::off);  // the same layers
  const Tensor x = random({2, 3, 6});
  Generator generator(1);
  const auto expected = make_norm(options, 6);
  expected->parameter("weight").value = with->parameter("norm.weight").value;
  expected->parameter("bias").value = with->parameter("norm.bias").value;
  CHECK(max_abs_difference(evaluate(*with, x), evaluate(*expected, evaluate(*without, x))) == 0.0);
}

TEST_CASE("TransformerEncoder: at the start the pre-norm stream grows, the head's input does not") {
  const auto rms_after = [](std::int64_t num_layers) {
    Generator generator(1);
    TransformerEncoder encoder(num_layers, 32, 4, generator,
                               {.dim_feedforward = 64, .dropout = 0.0, .norm_first = true});
    double stream = 0.0;
    const auto rms = [](const Tensor& x) {
      return norm(x) / std::sqrt(static_cast<double>(x.numel()));
    };
    encoder.register_hook([&](const std::string& name, const Var& value) {
      if (name == "norm.input") stream = rms(value.value());
    });
    const double head_input = rms(evaluate(encoder, random({4, 5, 32})));
    CHECK(std::abs(head_input - 1.0) <= 1e-4);  // below 1 by the effect of eps
    return stream;
  };
  CHECK(rms_after(12) > 1.2 * rms_after(1));
}

TEST_CASE("TransformerEncoder: layers start apart, each with parameters of its own") {
  Generator generator(1);
  TransformerEncoder encoder(12, 8, 2, generator, small_options(true));
  Generator for_one(1);
  TransformerEncoderLayer one(8, 2, for_one, small_options(true));
  CHECK(numbers_in(encoder) == 12 * numbers_in(one) + 2 * 8);
  const std::vector<Parameter*> all = encoder.parameters();
  CHECK(std::set<Parameter*>(all.begin(), all.end()).size() == 12 * 12 + 2);
  for (std::size_t i = 1; i < encoder.layers.size(); ++i) {
    CHECK(max_abs_difference(encoder.layers[i]->linear2.weight.value,
                             encoder.layers[0]->linear2.weight.value) > 0.01);
  }
  // The first is what the generator gives a single layer; a deeper stack does not change it.
  CHECK(max_abs_difference(encoder.layers[0]->linear2.weight.value, one.linear2.weight.value) ==
        0.0);
}

TEST_CASE("TransformerEncoder: the same seed gives the same model") {
  Generator a(3), b(3), c(4);
  TransformerEncoder first(2, 8, 2, a, small_options(true, 0.5));
  TransformerEncoder same(2, 8, 2, b, small_options(true, 0.5));
  TransformerEncoder other(2, 8, 2, c, small_options(true, 0.5));
  const Tensor x = random({2, 3, 8});
  for (int pass = 0; pass < 2; ++pass) {
    const Tensor y = evaluate(first, x);
    CHECK(max_abs_difference(evaluate(same, x), y) == 0.0);
    CHECK(max_abs_difference(evaluate(other, x), y) > 0.01);
  }
}

TEST_CASE(
    "TransformerEncoder: every value is observed once per forward, in train and in eval mode") {
  for (const bool train : {true, false}) {
    CAPTURE(train);
    const auto encoder = small_encoder(2, small_options(true, 0.5));
    const auto untapped = small_encoder(2, small_options(true, 0.5));
    encoder->train(train);
    untapped->train(train);
    std::vector<std::string> seen;
    encoder->register_hook([&](const std::string& name, const Var&) { seen.push_back(name); });
    const Tensor x = random({2, 3, 6});
    CHECK(max_abs_difference(evaluate(*encoder, x), evaluate(*untapped, x)) == 0.0);
    std::vector<std::string> expected;
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      for (const char* point :
           {"input", "norm1.input", "self_attn.query", "self_attn.key", "self_attn.output",
            "norm2.input", "linear2.input", "linear2.output", "ffn.output"}) {
        expected.push_back(layer + point);
      }
    }
    expected.emplace_back("norm.input");
    CHECK(seen == expected);
    encoder->remove_hook();
    CHECK(max_abs_difference(evaluate(*encoder, x), evaluate(*untapped, x)) == 0.0);
    CHECK(seen == expected);
  }
}

TEST_CASE("TransformerEncoder: a hook changes no gradient") {
  const auto gradients = [](bool tapped) {
    const auto encoder = small_encoder(2, small_options(false));
    if (tapped) {
      encoder->register_hook([](const std::string&, const Var& value) { value.retain_grad(); });
    }
    Tape tape;
    tape.backward(encoder->forward(tape.variable(random({2, 3, 6}))), random({2, 3, 6}, 2));
    std::vector<Tensor> result;
    for (const Parameter* parameter : encoder->parameters()) result.push_back(parameter->grad);
    return result;
  };
  const auto with = gradients(true), without = gradients(false);
  for (std::size_t i = 0; i < with.size(); ++i) {
    CHECK(max_abs_difference(with[i], without[i]) == 0.0);
  }
}

TEST_CASE("TransformerEncoder: backward by chunks of the batch adds up to one pass") {
  constexpr std::int64_t kImages = 7, kTokens = 3, kWidth = 6, kClasses = 4;
  const auto encoder = small_encoder(2, small_options(true));
  Generator generator(2);
  Linear head(kWidth, kClasses, generator);
  std::vector<Parameter*> parameters = encoder->parameters();
  for (Parameter* parameter : head.parameters()) parameters.push_back(parameter);
  const Tensor x = random({kImages, kTokens, kWidth});
  const std::vector<std::int64_t> labels{0, 3, 1, 2, 2, 0, 1};

  // The mean over all images is the sum over chunks of their sum / kImages.
  const auto gradients = [&](std::int64_t chunk) {
    for (Parameter* parameter : parameters) parameter->zero_grad();
    for (std::int64_t first = 0; first < kImages; first += chunk) {
      const std::int64_t last = std::min(first + chunk, kImages);
      Tape tape;
      const Var tokens = encoder->forward(slice(tape.constant(x), 0, first, last));
      const Var loss =
          cross_entropy(head.forward(mean(tokens, {1})),
                        std::span(labels).subspan(static_cast<std::size_t>(first),
                                                  static_cast<std::size_t>(last - first)),
                        {.reduction = Reduction::sum});
      tape.backward(loss, Tensor::scalar(1.0 / static_cast<double>(kImages)));
    }
    std::vector<Tensor> result;
    for (const Parameter* parameter : parameters) result.push_back(parameter->grad);
    return result;
  };
  const std::vector<Tensor> whole = gradients(kImages);
  for (const std::int64_t chunk : {1, 2, 3}) {
    CAPTURE(chunk);
    const std::vector<Tensor> chunked = gradients(chunk);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(parameters[i]->name);
      CHECK(relative_error(chunked[i], whole[i]) <= 1e-13);
    }
  }
  // One pass over all images gives the gradient of the same mean.
  for (Parameter* parameter : parameters) parameter->zero_grad();
  Tape tape;
  tape.backward(cross_entropy(head.forward(mean(encoder->forward(tape.constant(x)), {1})), labels));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(relative_error(parameters[i]->grad, whole[i]) <= 1e-13);
  }
}

TEST_CASE("TransformerEncoder: an empty batch gives an empty result and zero gradients") {
  for (const bool norm_first : {false, true}) {
    Generator generator(1);
    TransformerEncoder encoder(2, 8, 2, generator, small_options(norm_first));
    check_empty_module(encoder, {0, 5, 8}, {0, 5, 8});
  }
}

TEST_CASE("TransformerEncoder: a stack needs a layer") {
  Generator generator(1);
  check_refused([&] { TransformerEncoder(0, 8, 2, generator, small_options(true)); },
                "[TransformerEncoder] num_layers: must be at least 1, got 0");
}
