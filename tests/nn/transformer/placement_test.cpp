#include "nn/transformer/placement.hpp"

#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/tools/gradcheck.hpp"
#include "nn/norms/norm_registry.hpp"
#include "nn/transformer/transformer_encoder.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

constexpr std::int64_t kWidth = 6, kHeads = 2;

TransformerEncoderLayer::Options make_options(Placement placement) {
  return {.dim_feedforward = 10,
          .dropout = 0.0,
          .activation = Activation::gelu,
          .placement = placement};
}

Tensor tokens(std::uint64_t seed = 1) {
  Generator generator(seed);
  return generator.randn({2, 3, kWidth});
}

// A gate that is zero would hide errors of its branch.
void move_parameters(Module& module) {
  Generator generator(2);
  for (Parameter* parameter : module.parameters()) {
    parameter->value +=
        map(generator.randn(parameter->value.shape()), [](double v) { return 0.3 * v; });
  }
}

}  // namespace

TEST_CASE("placement: every enumerator has an entry with a name of its own") {
  std::set<std::string> names;
  for (const PlacementEntry& placement : nn::placements()) {
    CHECK(&entry(placement.placement) == &placement);
    names.insert(placement.name);
  }
  CHECK(names.size() == 9);
  CHECK(name(Placement::res_post) == "res-post");
}

TEST_CASE("placement: gradients of the input and of every parameter are right in each one") {
  for (const PlacementEntry& placement : nn::placements()) {
    CAPTURE(placement.name);
    Generator generator(3);
    TransformerEncoder encoder(2, kWidth, kHeads, generator, make_options(placement.placement));
    move_parameters(encoder);
    Parameter input{"x", tokens()};
    std::vector<Parameter*> parameters = encoder.parameters();
    parameters.push_back(&input);
    const GradcheckResult result =
        check_parameter_gradients([&](Tape& tape) { return encoder.forward(tape.watch(input)); },
                                  parameters, {.tolerance = 1e-6});
    CHECK_MESSAGE(result.passed, result.report);
  }
}

TEST_CASE("placement: adaLN-Zero and ReZero start as the identity, bit for bit") {
  for (Placement placement : {Placement::ada_ln_zero, Placement::re_zero}) {
    CAPTURE(name(placement));
    Generator generator(4);
    TransformerEncoderLayer layer(kWidth, kHeads, generator, make_options(placement));
    Tape tape;
    const Tensor x = tokens();
    CHECK(max_abs_difference(layer.forward(tape.constant(x)).value(), x) == 0.0);
  }
}

TEST_CASE("placement: res-post with norm weights of zero is the identity") {
  Generator generator(5);
  TransformerEncoderLayer::Options options = make_options(Placement::res_post);
  options.norm_weight = 0.0;
  TransformerEncoderLayer layer(kWidth, kHeads, generator, options);
  Tape tape;
  const Tensor x = tokens();
  CHECK(max_abs_difference(layer.forward(tape.constant(x)).value(), x) == 0.0);
}

TEST_CASE("placement: DeepNorm enlarges the stream before both branches are added") {
  Generator generator(6);
  TransformerEncoder encoder(12, kWidth, kHeads, generator, make_options(Placement::deep_norm));
  const double alpha = encoder.layers.front()->options().deep_norm_alpha;
  CHECK(std::abs(alpha - 2.2133638394) < 1e-9);  // (2 * 12)^(1/4)
  TransformerEncoderLayer& layer = *encoder.layers.front();
  std::map<std::string, Tensor> observed;
  layer.register_hook(
      [&](const std::string& name, const Var& value) { observed[name] = value.value(); });
  Tape tape;
  layer.forward(tape.constant(tokens()));
  const auto enlarged_sum = [&](const Tensor& stream, const char* branch) {
    return zip(stream, observed[branch], [alpha](double s, double b) { return alpha * s + b; });
  };
  CHECK(max_abs_difference(observed["norm1.input"],
                           enlarged_sum(observed["input"], "self_attn.output")) < 1e-14);
  const Tensor z = evaluate(layer.norm1, observed["norm1.input"]);
  CHECK(max_abs_difference(observed["norm2.input"], enlarged_sum(z, "ffn.output")) < 1e-14);
}

TEST_CASE("placement: DeepNorm's beta is on the values' path and not on queries and keys") {
  Generator one(6), two(6);
  constexpr std::int64_t kDepth = 12;
  TransformerEncoder plain(kDepth, kWidth, kHeads, one, make_options(Placement::post));
  TransformerEncoder deep(kDepth, kWidth, kHeads, two, make_options(Placement::deep_norm));
  const double beta = 0.31947155212;  // (8 * 12)^(-1/4)
  CHECK(std::abs(deep.layers.front()->options().deep_norm_beta - beta) < 1e-10);
  for (const auto& [case_parameter_name, parameter] : plain.named_parameters()) {
    const auto& parameter_name = case_parameter_name;
    CAPTURE(parameter_name);
    const Tensor &before = parameter->value, &after = deep.parameter(parameter_name).value;
    const bool matrix = before.rank() == 2, in_proj = parameter_name.ends_with("in_proj_weight");
    for (std::int64_t i = 0; i < before.numel(); ++i) {
      const bool scaled = matrix && (!in_proj || i >= 2 * kWidth * kWidth);
      const double expected = before.data()[i] * (scaled ? beta : 1.0);
      CHECK(std::abs(after.data()[i] - expected) <= 1e-10 * std::abs(expected));
    }
  }
}

TEST_CASE(
    "placement: the stream is normalized in the block, or by a final norm, or there is no norm") {
  for (const PlacementEntry& placement : nn::placements()) {
    CAPTURE(placement.name);
    CHECK(placement.normalizes_stream + placement.needs_final_norm ==
          (placement.placement == Placement::re_zero ? 0 : 1));
  }
}

TEST_CASE("placement: parallel reads one norm in both branches") {
  Generator generator(7);
  TransformerEncoderLayer layer(kWidth, kHeads, generator, make_options(Placement::parallel));
  for (const auto& [parameter_name, parameter] : layer.named_parameters()) {
    CHECK(parameter_name.find("norm2") == std::string::npos);
  }
  std::vector<Tensor> parts;
  layer.register_hook([&](const std::string& name, const Var& value) {
    if (name == "self_attn.output" || name == "ffn.output") parts.push_back(value.value());
  });
  Tape tape;
  const Tensor x = tokens();
  Tensor sum = x;
  const Tensor y = layer.forward(tape.constant(x)).value();
  for (const Tensor& part : parts) sum += part;
  REQUIRE(parts.size() == 2);
  CHECK(max_abs_difference(y, sum) < 1e-14);
}

TEST_CASE(
    "placement: a stack has the final norm that its placement needs, or describes the override") {
  for (const PlacementEntry& placement : nn::placements()) {
    CAPTURE(placement.name);
    Generator generator(8);
    const TransformerEncoder by_need(1, kWidth, kHeads, generator,
                                     make_options(placement.placement));
    CHECK((by_need.norm != nullptr) == placement.needs_final_norm);
    CHECK(by_need.describe().find("as asked for") == std::string::npos);
    const TransformerEncoder told(1, kWidth, kHeads, generator, make_options(placement.placement),
                                  {placement.needs_final_norm ? FinalNorm::off : FinalNorm::on});
    CHECK((told.norm != nullptr) != placement.needs_final_norm);
    CHECK(told.describe().find("as asked for") != std::string::npos);
  }
}

TEST_CASE("placement: a norm on the stream after every second block") {
  Generator generator(9);
  const EncoderStackOptions stack{.stream_norm_every = 2};
  TransformerEncoder encoder(5, kWidth, kHeads, generator, make_options(Placement::res_post),
                             stack);
  std::size_t norms = 0;
  for (const auto& [parameter_name, parameter] : encoder.named_parameters()) {
    if (parameter_name.starts_with("stream_norms.") && parameter_name.ends_with("weight")) ++norms;
  }
  CHECK(norms == 2);
}
