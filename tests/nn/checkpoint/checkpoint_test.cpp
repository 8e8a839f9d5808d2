#include "nn/checkpoint/checkpoint.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "nn/models/vision_transformer.hpp"
#include "nn/norms/norm_registry.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

std::string fixture_path(const std::string& name) {
  return std::string(NORMLAB_FIXTURES_DIR) + "/" + name;
}

VisionTransformer::Options tiny() {
  return {.image_side = 4,
          .patch_side = 2,
          .classes = 3,
          .layers = 2,
          .d_model = 6,
          .nhead = 2,
          .dim_feedforward = 5};
}

std::unique_ptr<VisionTransformer> model_of(const VisionTransformer::Options& options,
                                            std::uint64_t seed = 1) {
  Generator generator(seed);
  auto model = std::make_unique<VisionTransformer>(options, generator);
  randomize_parameters(*model, seed);
  return model;
}

Safetensors file_of(Module& model) {
  Safetensors file;
  add_model(file, model);
  return file;
}

std::string refusal(const Safetensors& file, Module& model) {
  try {
    read_model(file, model, "m.safetensors");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it was read";
}

// PyTorch's model of a case, as it is at its start here.
std::unique_ptr<TransformerEncoder> encoder_of(const FixtureCase& fixture) {
  Generator generator(6);
  TransformerEncoderLayer::Options options{.dim_feedforward = fixture.option<std::int64_t>("ffn"),
                                           .dropout = 0.0,
                                           .activation = Activation::gelu,
                                           .layer_norm_eps = fixture.option<double>("eps"),
                                           .norm_first = fixture.option<bool>("norm_first")};
  return std::make_unique<TransformerEncoder>(
      fixture.option<std::int64_t>("layers"), fixture.option<std::int64_t>("width"),
      fixture.option<std::int64_t>("heads"), generator, options);
}

const FixtureCase& named(const std::vector<FixtureCase>& cases, const std::string& name) {
  for (const FixtureCase& each : cases) {
    if (each.name == name) return each;
  }
  FAIL("no such case");
  return cases.front();
}

}  // namespace

TEST_CASE("checkpoint: a file that PyTorch's user wrote gives PyTorch's outputs, with a warning") {
  const auto cases = load_fixture_cases("checkpoints.json", "encoder");
  for (const char* name : {"torch_encoder_f64", "torch_encoder_f32"}) {
    const FixtureCase& fixture = named(cases, name);
    CAPTURE(fixture.name);
    const auto model = encoder_of(fixture);
    const auto warnings = load_model(fixture_path(fixture.option<std::string>("file")), *model);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("does not say of which architecture it is. Taken on trust: ") !=
          std::string::npos);
    for (const char* part : {"placement \"", "activation \"gelu\"", "heads 2", "norm \"LayerNorm\"",
                             "eps 1e-05", "attention \"dot-product\""}) {
      CAPTURE(part);
      CHECK(warnings[0].find(part) != std::string::npos);
    }
    CHECK(relative_error(output_of(*model, tensor_of(fixture.input("x"))),
                         tensor_of(fixture.output("y"))) <= 1e-12);
  }
}

TEST_CASE("checkpoint: PyTorch computes the same with the weights of a file written here") {
  Generator generator(6);
  const TransformerEncoderLayer::Options options{.dim_feedforward = 3,
                                                 .dropout = 0.0,
                                                 .activation = Activation::gelu,
                                                 .layer_norm_eps = 1e-3,
                                                 .norm_first = true};
  TransformerEncoder model(1, 4, 2, generator, options);
  // The file that PyTorch read is the one that is written today.
  std::ifstream file(fixture_path("normlab_encoder.safetensors"), std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  const bool unchanged = bytes.str() == to_safetensors(file_of(model));
  if (!unchanged) {
    const std::string fresh =
        std::filesystem::temp_directory_path() / "normlab_encoder.safetensors";
    save_model(fresh, model);
    MESSAGE("if this is meant, take " << fresh << " into tests/fixtures and run make_fixtures.py");
  }
  CHECK(unchanged);
  const auto cases = load_fixture_cases("checkpoints.json", "encoder");
  const FixtureCase& fixture = named(cases, "normlab_encoder");
  CHECK(relative_error(output_of(model, tensor_of(fixture.input("x"))),
                       tensor_of(fixture.output("y"))) <= 1e-12);
}

TEST_CASE(
    "checkpoint: a model that is saved and loaded computes the same bits, running statistics "
    "included") {
  for (const std::string& norm : nn::norms().names()) {
    CAPTURE(norm);
    VisionTransformer::Options options = tiny();
    options.norm = norm;
    const auto model = model_of(options), other = model_of(options, 2);
    const Tensor x = random({5, 4, 4});
    output_of(*model, x);  // moves the statistics
    model->eval();
    other->eval();
    CHECK(max_abs_difference(output_of(*other, x), output_of(*model, x)) > 0.0);
    CHECK(read_model(parse_safetensors(to_safetensors(file_of(*model)), "m"), *other, "m").empty());
    CHECK(max_abs_difference(output_of(*other, x), output_of(*model, x)) == 0.0);
  }
}

TEST_CASE(
    "checkpoint: another architecture of the same names and shapes is refused by the field's "
    "name") {
  const auto model = model_of(tiny());
  const Safetensors file = file_of(*model);
  struct Change {
    std::function<void(VisionTransformer::Options&)> make;
    std::string message;
  };
  using Options = VisionTransformer::Options;
  const std::vector<Change> changes{
      {[](Options& o) { o.norm_eps = 1e-6; },
       "encoder.layers.0.norm1.eps is 1e-05 in the file and 1e-06 in the model, and 4 more such"},
      {[](Options& o) { o.activation = Activation::relu; },
       "encoder.layers.0.activation is \"gelu\" in the file and \"relu\" in the model"},
      {[](Options& o) { o.nhead = 3; },
       "encoder.layers.0.self_attn.heads is 2 in the file and 3 in the model"},
      {[](Options& o) { o.placement = Placement::res_post; },
       "encoder.layers.0.placement is \"pre\" in the file and \"res-post\" in the model"},
      {[](Options& o) {
         o.norm = "convnext";
         o.norm_eps = 1e-5;
       },
       "norm is \"layernorm\" in the file and \"convnext\" in the model"},
  };
  for (const Change& change : changes) {
    CAPTURE(change.message);
    Options options = tiny();
    change.make(options);
    const auto other = model_of(options, 2);
    const Tensor before = other->head.weight.value;
    const std::string message = refusal(file, *other);
    CAPTURE(message);
    CHECK(message.find("m.safetensors: is of another architecture: " + change.message) !=
          std::string::npos);
    CHECK(max_abs_difference(other->head.weight.value, before) == 0.0);
    const auto warnings = read_model(file, *other, "m", Architecture::may_differ);
    CHECK(warnings.size() >= 1);
    CHECK(max_abs_difference(other->head.weight.value, model->head.weight.value) == 0.0);
  }
  // Cosine attention and query-key norms have parameters of their own; still it is the field that
  // is named.
  Options cosine = {.image_side = 4,
                    .classes = 3,
                    .layers = 1,
                    .d_model = 6,
                    .nhead = 2,
                    .dim_feedforward = 5,
                    .cosine_attention = true};
  CHECK(refusal(file, *model_of(cosine))
            .find("encoder.layers.0.self_attn.attention is \"dot-product\" in the file and "
                  "\"cosine\"") != std::string::npos);
  Options qk = tiny();
  qk.qk_norm = "layernorm";
  CHECK(refusal(file, *model_of(qk))
            .find("encoder.layers.0.self_attn.qk_norm is false in the file and true") !=
        std::string::npos);
}

TEST_CASE(
    "checkpoint: tensors that are missing, extra, of another shape or not finite are refused") {
  const auto model = model_of(tiny());
  const Safetensors good = file_of(*model);
  const auto with = [&](const std::string& name, const Tensor& tensor) {
    Safetensors file = good;
    for (auto& [each, value] : file.tensors) {
      if (each == name) value = tensor;
    }
    return file;
  };
  const auto refused = [&](const Safetensors& file, const std::string& message) {
    const std::string got = refusal(file, *model);
    CAPTURE(got);
    CHECK(got.find("[checkpoint] m.safetensors: " + message) != std::string::npos);
  };
  Safetensors file = good;
  file.tensors.pop_back();
  refused(file, "has no head.bias. HINT: ");
  refused(with("head.bias", Tensor::zeros({4})),
          "head.bias has the shape (4,), and in the model (3,)");
  refused(with("head.bias", Tensor({3}, {0, std::nan(""), 0})),
          "head.bias holds numbers that are not finite");
  file = good;
  file.tensors.emplace_back("extra", Tensor::scalar(1));
  refused(file, "has extra, which the model has not");
  file.tensors.back().first = "training.extra";
  CHECK(refusal(file, *model) == "it was read");
  file.metadata[kArchitectureKey] = "[";
  refused(file, "its metadata normlab.architecture is not a JSON object");
  CHECK_THROWS_AS(load_model("no/such.safetensors", *model), std::runtime_error);
}

TEST_CASE("checkpoint: norm weights that were stored as weight - 1 are noticed (B133)") {
  const auto model = model_of(tiny());
  Safetensors file = file_of(*model);
  file.metadata.clear();
  CHECK(read_model(file, *model, "m").size() == 1);
  for (auto& [name, tensor] : file.tensors) {
    if (name == "encoder.layers.1.norm2.weight") tensor = Tensor::full({6}, 0.05);
  }
  const auto warnings = read_model(file, *model, "m");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[1].starts_with("encoder.layers.1.norm2.weight is 0.05 on average"));
}
