#include "nn/models/vision_transformer.hpp"

#include <doctest/doctest.h>

#include "core/ops/shape_ops.hpp"
#include "nn/norms/norm_registry.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

using Pooling = VisionTransformer::Pooling;

VisionTransformer::Options tiny() {
  return {.image_side = 4,
          .patch_side = 2,
          .classes = 3,
          .layers = 2,
          .d_model = 6,
          .nhead = 2,
          .dim_feedforward = 5};
}

}  // namespace

TEST_CASE("VisionTransformer: is its equation, put together by hand") {
  for (const Pooling pooling : {Pooling::mean, Pooling::class_token}) {
    VisionTransformer::Options options = tiny();
    options.pooling = pooling;
    Generator generator(2);
    VisionTransformer model(options, generator);
    randomize_parameters(model);
    const Tensor image = Tensor::arange(16).reshaped({1, 4, 4});
    // The patches of
    //    0  1 |  2  3
    //    4  5 |  6  7
    //    ------------
    //    8  9 | 10 11
    //   12 13 | 14 15
    const Tensor patches({1, 4, 4}, {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
    Tape tape;
    Var x = model.patch_embedding.forward(tape.constant(patches));
    std::vector<Var> tokens;
    if (pooling == Pooling::class_token)
      tokens.push_back(reshape(tape.watch(*model.class_token), {1, 1, 6}));
    tokens.push_back(x);
    x = concat(tokens, 1);
    Tensor sum = x.value();
    sum += model.position_embedding.value.reshaped(x.shape());
    const Tensor y = model.encoder.forward(tape.constant(sum)).value();
    Tensor pooled = Tensor::zeros({1, 6});
    const std::int64_t count = pooling == Pooling::mean ? 4 : 1;
    for (std::int64_t t = 0; t < count; ++t) {
      for (std::int64_t i = 0; i < 6; ++i) {
        pooled.mutable_data()[i] += y.at({0, t, i}) / static_cast<double>(count);
      }
    }
    CHECK(relative_error(evaluate(model, image), evaluate(model.head, pooled)) <= 1e-13);
  }
}

TEST_CASE(
    "VisionTransformer: gradients of every parameter and of the image agree with differences") {
  for (const Pooling pooling : {Pooling::mean, Pooling::class_token}) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      VisionTransformer::Options options = tiny();
      options.pooling = pooling;
      options.placement = placement;
      options.layers = 1;
      Generator generator(2);
      VisionTransformer model(options, generator);
      randomize_parameters(model);
      check_module_gradients(model, random({2, 4, 4}));
    }
  }
}

TEST_CASE(
    "VisionTransformer: every norm and placement, with the final norm that the placement asks "
    "for") {
  for (const PlacementEntry& placement : nn::placements()) {
    for (const std::string& norm : nn::norms().names()) {
      CAPTURE(placement.name);
      CAPTURE(norm);
      VisionTransformer::Options options = tiny();
      options.norm = norm;
      options.placement = placement.placement;
      Generator generator(1);
      VisionTransformer model(options, generator);
      CHECK((model.encoder.norm != nullptr) == placement.needs_final_norm);
      CHECK(evaluate(model, random({3, 4, 4})).shape() == Shape{3, 3});
    }
  }
}

TEST_CASE("VisionTransformer: dropout acts in train mode alone, and the norm's eps arrives") {
  VisionTransformer::Options options = tiny();
  options.dropout = 0.5;
  options.norm_eps = 0.25;
  Generator generator(3);
  VisionTransformer model(options, generator);
  const Tensor x = random({2, 4, 4});
  CHECK(max_abs_difference(evaluate(model, x), evaluate(model, x)) > 0.0);
  model.eval();
  CHECK(max_abs_difference(evaluate(model, x), evaluate(model, x)) == 0.0);
  int norms = 0;
  for (const auto& [name, hyperparameter] : model.named_hyperparameters()) {
    if (!name.ends_with(".eps")) continue;
    CHECK(std::get<double>(hyperparameter) == 0.25);
    ++norms;
  }
  CHECK(norms == 5);
}

TEST_CASE("VisionTransformer: sizes and names that do not fit are refused") {
  Generator generator(1);
  const auto refuses = [&](const VisionTransformer::Options& options, std::string_view message) {
    check_refused([&] { VisionTransformer(options, generator); }, message);
  };
  refuses({.patch_side = 3},
          "[VisionTransformer] patch_side: must divide the image side, got 3 and 8");
  refuses({.classes = 0},
          "[VisionTransformer] classes, d_model, dim_feedforward: must be positive");
  refuses({.nhead = 5}, "[MultiheadAttention] embed_dim");
  refuses({.norm = "nonorm"}, "[Registry] norm: must be one of layernorm");
  VisionTransformer model(tiny(), generator);
  check_input_refused(model, {2, 4, 5}, "[VisionTransformer] images: must be (N, 4, 4)");
}
