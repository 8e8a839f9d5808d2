// TransformerDecoder and Transformer.
#include "nn/transformer/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>

#include <doctest/doctest.h>

#include "tests/nn/transformer/transformer_decoder_layer_cases.hpp"

using namespace normlab;

namespace {

// Both need a second input, so neither can stand where one input is given.
static_assert(!std::is_base_of_v<Layer, TransformerDecoder>);
static_assert(!std::is_base_of_v<Layer, Transformer>);

Transformer::Options tiny(bool norm_first, FinalNorm final_norm = FinalNorm::as_placement_needs) {
  return {.d_model = 6,
          .nhead = 2,
          .num_encoder_layers = 2,
          .num_decoder_layers = 1,
          .layer = small_options(norm_first),
          .final_norm = final_norm};
}

}  // namespace

TEST_CASE("TransformerDecoder: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("decoders.json", "transformer_decoder")) {
    Generator generator(1);
    TransformerDecoder decoder(
        fixture.option<std::int64_t>("num_layers"), fixture.option<std::int64_t>("d_model"),
        fixture.option<std::int64_t>("nhead"), generator, make_block_options(fixture),
        fixture.option<bool>("final_norm") ? FinalNorm::on : FinalNorm::off);
    check_decoder_fixture(decoder, fixture);
  }
}

TEST_CASE("TransformerDecoder: every layer reads the memory, and has parameters of its own") {
  Generator generator(1);
  TransformerDecoder decoder(3, 6, 2, generator, small_options(true));
  std::vector<std::string> names;
  decoder.register_hook([&](const std::string& name, const Var&) { names.push_back(name); });
  decoded(decoder, random({2, 3, 6}), random({2, 4, 6}));
  CHECK(std::ranges::count(names, "layers.2.multihead_attn.output") == 1);
  CHECK(names.back() == "norm.input");
  const std::vector<Parameter*> all = decoder.parameters();
  CHECK(std::set<Parameter*>(all.begin(), all.end()).size() == 3 * 18 + 2);
  CHECK(max_abs_difference(decoder.layers[0]->linear2.weight.value,
                           decoder.layers[1]->linear2.weight.value) > 0.01);
}

TEST_CASE("TransformerDecoder: a stack of no layers is refused") {
  Generator generator(1);
  check_refused([&] { TransformerDecoder(0, 6, 2, generator, small_options(true)); },
                "[TransformerDecoder] num_layers: must be at least 1, got 0");
}

TEST_CASE("Transformer: values and gradients are PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("transformers.json", "transformer")) {
    Generator generator(1);
    Transformer model({.d_model = fixture.option<std::int64_t>("d_model"),
                       .nhead = fixture.option<std::int64_t>("nhead"),
                       .num_encoder_layers = fixture.option<std::int64_t>("num_encoder_layers"),
                       .num_decoder_layers = fixture.option<std::int64_t>("num_decoder_layers"),
                       .layer = make_block_options(fixture),
                       .final_norm = FinalNorm::on},
                      generator);
    Transformer::Masks masks;
    masks.target.is_causal = fixture.option<bool>("is_causal");
    if (fixture.option<bool>("has_padding")) {
      masks.source.key_padding_mask = tensor_of(fixture.input("src_key_padding_mask"));
      masks.memory.key_padding_mask = masks.source.key_padding_mask;
      masks.target.key_padding_mask = tensor_of(fixture.input("tgt_key_padding_mask"));
    }
    check_module_fixture(model, fixture,
                         [&](const Vars& in) { return model.forward(in[0], in[1], masks); });
  }
}

TEST_CASE("Transformer: its matrices start as PyTorch's, number by number") {
  for (const FixtureCase& fixture : load_fixture_cases("transformers.json", "transformer_reset")) {
    Generator generator(1);
    Transformer model({.d_model = 4,
                       .nhead = 2,
                       .num_encoder_layers = 1,
                       .num_decoder_layers = 1,
                       .layer = {.dim_feedforward = 5}},
                      generator);
    Generator seeded(fixture.option<std::uint64_t>("seed"));
    model.reset_parameters(seeded);
    std::size_t matrices = 0;
    for (const auto& [case_name, parameter] : model.named_parameters()) {
      const auto& name = case_name;
      if (parameter->value.rank() < 2) continue;
      CAPTURE(name);
      CHECK(relative_error(parameter->value, tensor_of(fixture.output(name))) <= 1e-15);
      ++matrices;
    }
    CHECK(matrices == fixture.outputs.size());
  }
}

TEST_CASE("Transformer: the constructor leaves every matrix Xavier uniform") {
  // The largest of so many uniform numbers is close to the bound, and none exceeds it.
  Generator generator(1);
  Transformer model({.d_model = 32, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 1},
                    generator);
  for (const auto& [case_name, parameter] : model.named_parameters()) {
    const auto& name = case_name;
    if (parameter->value.rank() < 2) continue;
    CAPTURE(name);
    const Shape& shape = parameter->value.shape();
    const double bound = std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1]));
    double largest = 0.0;
    for (const double v : parameter->value.values()) largest = std::max(largest, std::abs(v));
    CHECK(largest <= bound);
    CHECK(largest >= 0.98 * bound);
  }
}

TEST_CASE("Transformer: both halves end in a norm or neither does, by option or by need") {
  const auto ends = [](bool norm_first, FinalNorm final_norm) {
    Generator generator(1);
    Transformer model(tiny(norm_first, final_norm), generator);
    CHECK((model.encoder.norm != nullptr) == (model.decoder.norm != nullptr));
    const std::size_t norms = model.encoder.norm != nullptr ? 2 : 0;
    CHECK(model.parameters().size() == 2 * 12 + 18 + 2 * norms);
    std::size_t final_norms = 0;
    for (const auto& [name, hyperparameter] : model.named_hyperparameters()) {
      if (name.ends_with("final_norm") && std::get<bool>(hyperparameter)) ++final_norms;
    }
    CHECK(final_norms == norms);
    return norms > 0;
  };
  CHECK(ends(true, FinalNorm::as_placement_needs));
  CHECK_FALSE(ends(false, FinalNorm::as_placement_needs));
  for (const bool norm_first : {false, true}) {
    CHECK(ends(norm_first, FinalNorm::on));
    CHECK_FALSE(ends(norm_first, FinalNorm::off));
  }
}

TEST_CASE("Transformer: gradients agree with differences, for source, target and parameters") {
  for (const bool norm_first : {false, true}) {
    Generator generator(1);
    Transformer::Options options = tiny(norm_first);
    options.num_encoder_layers = 1;
    Transformer model(options, generator);
    randomize_parameters(model);
    check_gradients_of_two(model, random({2, 4, 6}), random({2, 3, 6}, 2),
                           [&](const Var& src, const Var& tgt) {
                             return model.forward(src, tgt, {.target = {.is_causal = true}});
                           });
  }
}

TEST_CASE("Transformer: source and target of different batch sizes are refused") {
  Generator generator(1);
  Transformer model(tiny(true), generator);
  Tape tape;
  check_refused(
      [&] {
        const Var src = tape.constant(random({2, 4, 6})), tgt = tape.constant(random({3, 3, 6}));
        model.forward(src, tgt);
      },
      "[TransformerDecoderLayer] memory");
}
