#include "nn/checkpoint/checkpoint.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "nn/models/translation_transformer.hpp"
#include "nn/models/vision_transformer.hpp"
#include "nn/norms/norm_registry.hpp"
#include "nn/norms/rms_norm.hpp"
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

std::unique_ptr<VisionTransformer> make_model(const VisionTransformer::Options& options,
                                              std::uint64_t seed = 1) {
  Generator generator(seed);
  auto model = std::make_unique<VisionTransformer>(options, generator);
  randomize_parameters(*model, seed);
  return model;
}

Safetensors make_file(Module& model) {
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

// The model of a fixture, as initialized here.
std::unique_ptr<TransformerEncoder> make_encoder(const FixtureCase& fixture) {
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
  for (const FixtureCase& candidate : cases) {
    if (candidate.name == name) return candidate;
  }
  FAIL("no such case");
  return cases.front();
}

}  // namespace

TEST_CASE("checkpoint: a file written by PyTorch gives PyTorch's outputs, with a warning") {
  const auto cases = load_fixture_cases("checkpoints.json", "encoder");
  for (const char* name : {"torch_encoder_f64", "torch_encoder_f32"}) {
    const FixtureCase& fixture = named(cases, name);
    CAPTURE(fixture.name);
    const auto model = make_encoder(fixture);
    const auto warnings = load_model(fixture_path(fixture.option<std::string>("file")), *model);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("does not say of which architecture it is. Taken on trust: ") !=
          std::string::npos);
    for (const char* part : {"placement \"", "activation \"gelu\"", "heads 2", "norm \"LayerNorm\"",
                             "eps 1e-05", "attention \"dot-product\""}) {
      CAPTURE(part);
      CHECK(warnings[0].find(part) != std::string::npos);
    }
    CHECK(relative_error(evaluate(*model, tensor_of(fixture.input("x"))),
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
  // The file that PyTorch has read must be what this version writes.
  std::ifstream file(fixture_path("normlab_encoder.safetensors"), std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  const bool unchanged = bytes.str() == to_safetensors(make_file(model));
  if (!unchanged) {
    const std::string fresh =
        std::filesystem::temp_directory_path() / "normlab_encoder.safetensors";
    save_model(fresh, model);
    MESSAGE("if this is meant, take " << fresh << " into tests/fixtures and run make_fixtures.py");
  }
  CHECK(unchanged);
  const auto cases = load_fixture_cases("checkpoints.json", "encoder");
  const FixtureCase& fixture = named(cases, "normlab_encoder");
  CHECK(relative_error(evaluate(model, tensor_of(fixture.input("x"))),
                       tensor_of(fixture.output("y"))) <= 1e-12);
}

TEST_CASE(
    "checkpoint: a model that is saved and loaded computes the same bits, running statistics "
    "included") {
  for (const std::string& norm : nn::norms().names()) {
    CAPTURE(norm);
    VisionTransformer::Options options = tiny();
    options.norm = norm;
    const auto model = make_model(options), other = make_model(options, 2);
    const Tensor x = random({5, 4, 4});
    evaluate(*model, x);  // moves the statistics
    model->eval();
    other->eval();
    CHECK(max_abs_difference(evaluate(*other, x), evaluate(*model, x)) > 0.0);
    CHECK(
        read_model(parse_safetensors(to_safetensors(make_file(*model)), "m"), *other, "m").empty());
    CHECK(max_abs_difference(evaluate(*other, x), evaluate(*model, x)) == 0.0);
  }
}

TEST_CASE(
    "checkpoint: another architecture of the same names and shapes is refused by the field's "
    "name") {
  const auto model = make_model(tiny());
  const Safetensors file = make_file(*model);
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
    const auto other = make_model(options, 2);
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
  // Cosine attention and query-key norms have additional parameters; the message must name the
  // field all the same.
  Options cosine = {.image_side = 4,
                    .classes = 3,
                    .layers = 1,
                    .d_model = 6,
                    .nhead = 2,
                    .dim_feedforward = 5,
                    .cosine_attention = true};
  CHECK(refusal(file, *make_model(cosine))
            .find("encoder.layers.0.self_attn.attention is \"dot-product\" in the file and "
                  "\"cosine\"") != std::string::npos);
  Options qk = tiny();
  qk.qk_norm = "layernorm";
  CHECK(refusal(file, *make_model(qk))
            .find("encoder.layers.0.self_attn.qk_norm is false in the file and true") !=
        std::string::npos);
}

TEST_CASE(
    "checkpoint: tensors that are missing, extra, of another shape or not finite are refused") {
  const auto model = make_model(tiny());
  const Safetensors good = make_file(*model);
  const auto with = [&](const std::string& name, const Tensor& tensor) {
    Safetensors file = good;
    for (auto& [candidate, value] : file.tensors) {
      if (candidate == name) value = tensor;
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
  const struct {
    const char* metadata;
    const char* refusal;
  } architectures[] = {
      {"[", "its metadata normlab.architecture is not JSON from byte 2 on"},
      {"1", "its metadata normlab.architecture is not a JSON object"},
      {R"({"eps": 1, "eps": 2})", R"(its metadata normlab.architecture has the key "eps" twice)"},
      {R"({"eps": [1]})", "its metadata normlab.architecture is nested more than 1 levels deep"},
  };
  for (const auto& [metadata, refusal_of_it] : architectures) {
    file.metadata[kArchitectureKey] = metadata;
    refused(file, refusal_of_it);
  }
  file.metadata[kArchitectureKey] = std::string(200'000, '[');
  refused(file, "its metadata normlab.architecture is nested more than 1 levels deep");
  CHECK_THROWS_AS(load_model("no/such.safetensors", *model), std::runtime_error);
}

TEST_CASE("checkpoint: norm weights that were stored as weight - 1 are noticed") {
  const auto model = make_model(tiny());
  Safetensors file = make_file(*model);
  file.metadata.clear();
  CHECK(read_model(file, *model, "m").size() == 1);
  for (auto& [name, tensor] : file.tensors) {
    if (name == "encoder.layers.1.norm2.weight") tensor = Tensor::full({6}, 0.05);
  }
  const auto warnings = read_model(file, *model, "m");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[1].starts_with("encoder.layers.1.norm2.weight is 0.05 on average"));
}

TEST_CASE("checkpoint: a tied matrix may be in the file under both names if the two are equal") {
  Generator generator(1);
  TranslationTransformer model({.source_vocabulary = 5,
                                .target_vocabulary = 5,
                                .layers = 1,
                                .d_model = 4,
                                .nhead = 2,
                                .dim_feedforward = 3,
                                .tied = TranslationTransformer::TiedEmbeddings::output},
                               generator);
  const Safetensors good = make_file(model);
  const Tensor matrix = model.target_embedding.weight.value;

  Safetensors both = good;
  both.tensors.emplace_back("head.weight", matrix);
  CHECK(read_model(both, model, "m").empty());
  both.tensors.back().second = Tensor::zeros({5, 4});
  CHECK(refusal(both, model)
            .find("head.weight differs from target_embedding.weight, and the model "
                  "ties the two") != std::string::npos);
  both.tensors.back().second = Tensor::zeros({5, 5});
  CHECK(refusal(both, model).find("head.weight differs from") != std::string::npos);

  // Programs that store a tied matrix once may choose the other name.
  Safetensors other = good;
  for (auto& [name, tensor] : other.tensors) {
    if (name == "target_embedding.weight") name = "head.weight";
  }
  model.target_embedding.weight.value = Tensor::zeros({5, 4});
  CHECK(read_model(other, model, "m").empty());
  CHECK(max_abs_difference(model.target_embedding.weight.value, matrix) == 0.0);
}

TEST_CASE("checkpoint: single-precision weights of an RMSNorm with double's eps are warned of") {
  RMSNorm norm(4), chosen(4, RMSNorm::Options{.eps = 1e-6});
  Safetensors file{{{"weight", Tensor::ones({4})}}};
  CHECK(read_model(file, norm, "m").size() == 1);
  file.single_precision = {"weight"};
  const auto warnings = read_model(file, norm, "m");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[1] ==
        "eps is 2.22e-16, the default for doubles, but the weights are single precision, for which "
        "PyTorch's default is 1.19e-07: with which one were they trained?");
  CHECK(read_model(file, chosen, "m").size() == 1);
}

TEST_CASE("checkpoint: a file of a layer's earlier revision is refused") {
  class Revised : public Module {
   public:
    explicit Revised(std::int64_t revision) {
      register_hyperparameter("norm", "Revised");
      if (revision > 1) register_revision(revision);
    }
  } first(1), second(2), third(3);
  CHECK(refusal(make_file(first), first) == "it was read");
  CHECK(refusal(make_file(second), second) == "it was read");
  CHECK(refusal(make_file(first), second)
            .find("revision is nothing in the file and 2 in the model") != std::string::npos);
  CHECK(refusal(make_file(second), third).find("revision is 2 in the file and 3 in the model") !=
        std::string::npos);
}
