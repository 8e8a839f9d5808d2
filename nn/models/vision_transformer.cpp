// Tested by tests/nn/models/vision_transformer_test.cpp.
#include "nn/models/vision_transformer.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"
#include "nn/models/model_blocks.hpp"

namespace normlab {

namespace {

constexpr double kStartOfEmbeddings = 0.02;

const VisionTransformer::Options& checked(const VisionTransformer::Options& options) {
  const std::int64_t side = options.image_side, patch = options.patch_side;
  check(side > 0 && patch > 0 && side % patch == 0, "VisionTransformer", "patch_side",
        "must divide the image side", [&] { return fmt::format("{} and {}", patch, side); });
  check(options.classes > 0 && options.d_model > 0 && options.dim_feedforward > 0,
        "VisionTransformer", "classes, d_model, dim_feedforward", "must be positive", [&] {
          return fmt::format("{}, {}, {}", options.classes, options.d_model,
                             options.dim_feedforward);
        });
  return options;
}

BlockOptions encoder_block_options(const VisionTransformer::Options& options) {
  BlockOptions block = block_options(options);
  block.cosine_attention = options.cosine_attention;
  if (options.qk_norm) block.qk_norm = nn::norms().at(*options.qk_norm).factory(options.norm_eps);
  return block;
}

std::int64_t tokens(const VisionTransformer::Options& options) {
  const std::int64_t across = options.image_side / options.patch_side;
  return across * across + (options.pooling == VisionTransformer::Pooling::class_token ? 1 : 0);
}

Tensor start_of_embedding(const Shape& shape, Generator& generator) {
  Tensor start = Tensor::zeros(shape);
  init::normal(start, generator, kStartOfEmbeddings);
  return start;
}

}  // namespace

VisionTransformer::VisionTransformer(const Options& options, Generator& generator)
    : patch_embedding(
          register_module("patch_embedding",
                          std::make_unique<Linear>(checked(options).patch_side * options.patch_side,
                                                   options.d_model, generator))),
      position_embedding(register_parameter(
          "position_embedding", start_of_embedding({tokens(options), options.d_model}, generator),
          WeightDecay::on)),
      class_token(
          options.pooling == Pooling::class_token
              ? &register_parameter("class_token", start_of_embedding({options.d_model}, generator))
              : nullptr),
      dropout(register_module("dropout", std::make_unique<Dropout>(options.dropout, generator))),
      encoder(register_module("encoder", std::make_unique<TransformerEncoder>(
                                             options.layers, options.d_model, options.nhead,
                                             generator, encoder_block_options(options)))),
      head(register_module("head",
                           std::make_unique<Linear>(options.d_model, options.classes, generator))),
      options_(options) {
  register_hyperparameter("image_side", options.image_side);
  register_hyperparameter("patch_side", options.patch_side);
  register_hyperparameter("pooling", options.pooling == Pooling::mean ? "mean" : "class token");
  register_hyperparameter("norm", options.norm);
}

// (N, side, side) -> (N, T, patch_side^2)
Var VisionTransformer::cut(const Var& images) const {
  const std::int64_t n = images.shape()[0], p = options_.patch_side;
  const std::int64_t across = options_.image_side / p;
  const Var split = reshape(images, {n, across, p, across, p});
  return reshape(permute(split, {0, 1, 3, 2, 4}), {n, across * across, p * p});
}

Var VisionTransformer::forward(const Var& images) {
  const std::int64_t side = options_.image_side;
  check(images.value().rank() == 3 && images.shape()[1] == side && images.shape()[2] == side,
        "VisionTransformer", "images", fmt::format("must be (N, {}, {})", side, side),
        [&] { return images.shape().str(); });
  Tape& tape = images.tape();
  Var x = patch_embedding.forward(cut(images));
  if (class_token != nullptr) {
    const Var copies = tape.constant(Tensor::zeros({images.shape()[0], 1, options_.d_model})) +
                       tape.watch(*class_token);
    x = concat({copies, x}, 1);
  }
  const Var y = encoder.forward(dropout.forward(x + tape.watch(position_embedding)));
  if (class_token == nullptr) return head.forward(mean(y, {1}));
  return head.forward(reshape(slice(y, 1, 0, 1), {images.shape()[0], options_.d_model}));
}

}  // namespace normlab
