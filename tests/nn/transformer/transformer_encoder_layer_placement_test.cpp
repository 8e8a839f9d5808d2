// Post-norm, pre-norm, and x + norm(F(x)), which is neither.
#include <functional>
#include <optional>

#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "nn/init.hpp"
#include "nn/transformer/transformer_encoder_layer.hpp"
#include "tests/nn/transformer/transformer_encoder_layer_cases.hpp"

using namespace normlab;

namespace {

// The two that PyTorch has are chosen by norm_first, as in PyTorch.
std::optional<Placement> read_placement(const FixtureCase& fixture) {
  if (fixture.option<std::string>("placement") != "residual_post") return std::nullopt;
  return Placement::res_post;
}

std::unique_ptr<TransformerEncoderLayer> made_for(const FixtureCase& fixture) {
  Generator generator(1);
  return std::make_unique<TransformerEncoderLayer>(
      fixture.option<std::int64_t>("d_model"), fixture.option<std::int64_t>("nhead"), generator,
      TransformerEncoderLayer::Options{
          .dim_feedforward = fixture.option<std::int64_t>("dim_feedforward"),
          .dropout = 0.0,
          .activation = fixture.option<std::string>("activation") == "gelu" ? Activation::gelu
                                                                            : Activation::relu,
          .layer_norm_eps = fixture.option<double>("layer_norm_eps"),
          .norm_first = fixture.option_or<bool>("norm_first", false),
          .bias = fixture.option<bool>("bias"),
          .placement = read_placement(fixture)});
}

// The block with its norms in one of three places, built from the parts of a layer (without
// dropout).
Var composed(TransformerEncoderLayer& layer, Placement placement, const Var& x) {
  const auto attention = [&](const Var& v) { return layer.self_attn.forward(v); };
  const auto ffn = [&](const Var& v) {
    return layer.linear2.forward(activate(layer.options().activation, layer.linear1.forward(v)));
  };
  if (placement == Placement::pre) {
    const Var z = x + attention(layer.norm1.forward(x));
    return z + ffn(layer.norm2.forward(z));
  }
  if (placement == Placement::post) {
    const Var z = layer.norm1.forward(x + attention(x));
    return layer.norm2.forward(z + ffn(z));
  }
  REQUIRE(placement == Placement::res_post);
  const Var z = x + layer.norm1.forward(attention(x));
  return z + layer.norm2.forward(ffn(z));
}

void set_to_zero(Module& module) {
  for (Parameter* parameter : module.parameters()) init::zeros(parameter->value);
}

}  // namespace

TEST_CASE("TransformerEncoderLayer: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("encoder_layers.json")) {
    const auto layer = made_for(fixture);
    const AttentionMasks masks = make_masks(fixture, "src_mask", "src_key_padding_mask");
    check_module_fixture(*layer, fixture,
                         [&](const Vars& in) { return layer->forward(in[0], masks); });
  }
}

TEST_CASE("TransformerEncoderLayer: post-norm, pre-norm and x + norm(F(x)) are three functions") {
  std::vector<Tensor> outputs;
  for (const FixtureCase& fixture : load_fixture_cases("encoder_layers.json")) {
    if (fixture.option<std::string>("parameter_set") != "placement_trio") continue;
    const auto layer = made_for(fixture);
    load_parameters(*layer, fixture);
    outputs.push_back(evaluate(*layer, tensor_of(fixture.input("x"))));
    CHECK(relative_error(outputs.back(), tensor_of(fixture.output("y"))) <= 1e-12);
  }
  REQUIRE(outputs.size() == 3);
  CHECK(relative_error(outputs[0], outputs[1]) > 0.1);
  CHECK(relative_error(outputs[0], outputs[2]) > 0.1);
  CHECK(relative_error(outputs[1], outputs[2]) > 0.1);
}

TEST_CASE("TransformerEncoderLayer: the three placements are what their formulas say") {
  for (const Placement placement : {Placement::post, Placement::pre, Placement::res_post}) {
    CAPTURE(name(placement));
    TransformerEncoderLayer::Options options = small_options(placement == Placement::pre);
    if (placement == Placement::res_post) options.placement = placement;
    const auto layer = small_layer(options);
    CHECK(layer->options().place() == placement);
    const auto gradients = [&](const std::function<Var(const Var&)>& f) {
      layer->zero_grad();
      const Evaluation result =
          evaluate([&](const Vars& in) { return f(in[0]); }, {random({2, 3, 6})});
      std::vector<Tensor> all{result.value, result.gradients[0]};
      for (Parameter* parameter : layer->parameters()) all.push_back(parameter->grad);
      return all;
    };
    const auto got = gradients([&](const Var& x) { return layer->forward(x); });
    const auto expected = gradients([&](const Var& x) { return composed(*layer, placement, x); });
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(relative_error(got[i], expected[i]) <= 1e-12);
    }
  }
}

TEST_CASE("TransformerEncoderLayer: pre-norm with zero branches is the identity, bit for bit") {
  const auto layer = small_layer(small_options(true));
  set_to_zero(layer->self_attn.out_proj);
  set_to_zero(layer->linear2);
  const Tensor x = random({2, 3, 6});
  CHECK(max_abs_difference(evaluate(*layer, x), x) == 0.0);
}

TEST_CASE(
    "TransformerEncoderLayer: the second pre-norm branch adds to the stream, not to its norm") {
  const auto layer = small_layer(small_options(true));
  set_to_zero(layer->self_attn.out_proj);
  const Tensor x = random({2, 3, 6});
  Tape tape;
  const Var in = tape.constant(x);
  const Var ffn = layer->linear2.forward(gelu(layer->linear1.forward(layer->norm2.forward(in))));
  CHECK(relative_error(evaluate(*layer, x), (in + ffn).value()) <= 1e-15);
}

TEST_CASE("TransformerEncoderLayer: post-norm with zero branches normalizes twice") {
  const auto layer = small_layer(small_options(false));
  set_to_zero(layer->self_attn.out_proj);
  set_to_zero(layer->linear2);
  const Tensor x = random({2, 3, 6});
  CHECK(max_abs_difference(evaluate(*layer, x),
                           evaluate(layer->norm2, evaluate(layer->norm1, x))) == 0.0);
}

TEST_CASE("TransformerEncoderLayer: x + norm(F(x)) with norm scales of zero is the identity") {
  Generator generator(1);
  TransformerEncoderLayer::Options options = small_options(false);
  options.norm_weight = 0.0;
  TransformerEncoderLayer post(6, 2, generator, options);
  options.placement = Placement::res_post;
  TransformerEncoderLayer res_post(6, 2, generator, options);
  const Tensor x = random({2, 3, 6});
  CHECK(max_abs_difference(evaluate(res_post, x), x) == 0.0);
  CHECK(norm(evaluate(post, x)) == 0.0);  // where norm(x + F(x)) gives zero
  options.norm_weight = 1.0;
  TransformerEncoderLayer with_scale(6, 2, generator, options);
  CHECK(max_abs_difference(evaluate(with_scale, x), x) > 0.1);
}

TEST_CASE("placement: adaLN-Zero refuses a condition for another number of sequences") {
  Generator generator(1);
  TransformerEncoderLayer layer(6, 2, generator,
                                {.dim_feedforward = 5, .placement = Placement::ada_ln_zero});
  Tape tape;
  const Var x = tape.constant(random({2, 3, 6}));
  check_refused(
      [&] {
        layer.forward(x, {}, tape.constant(random({1, 6})));
      },
      "[TransformerEncoderLayer] condition: must have shape (2, 6), got (1, 6)");
  check_refused(
      [&] {
        layer.forward(x, {}, tape.constant(random({2, 5})));
      },
      "[TransformerEncoderLayer] condition: must have shape (2, 6), got (2, 5)");
}
