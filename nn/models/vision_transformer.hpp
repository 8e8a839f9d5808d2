#pragma once

#include <optional>
#include <string>

#include "nn/transformer/transformer_encoder.hpp"

namespace normlab {

// A transformer that classifies images (Dosovitskiy et al. 2021), (N, side, side) -> (N, classes):
//
//   x_p = W patch_p + b + position_p          for each of the T = (side / patch)^2 patches
//   y   = encoder(x)                          any registered norm, any placement
//   logits = head(mean over the tokens of y), or head(y of the class token)
//
// The placement decides whether the encoder ends in a norm (PlacementEntry::needs_final_norm).
// Patches do not overlap; the p^2 numbers of a patch are read row by row.
//
// The layers initialize themselves. Positions and class token start normal with standard deviation
// 0.02, which is what ViT's code uses for the positions.
class VisionTransformer : public Layer {
 public:
  enum class Pooling { mean, class_token };
  struct Options {
    std::int64_t image_side = 8, patch_side = 2, classes = 10;
    std::int64_t layers = 4, d_model = 64, nhead = 4, dim_feedforward = 128;
    std::string norm = "layernorm";    // of nn::norms()
    std::optional<double> norm_eps{};  // not set: the norm's default
    Placement placement = Placement::pre;
    Activation activation = Activation::gelu;
    Pooling pooling = Pooling::mean;
    double dropout = 0.0;  // on the embedded tokens, and where the encoder has it
    bool cosine_attention = false;
    std::optional<std::string> qk_norm{};  // of nn::norms()
  };
  // Throws std::invalid_argument unless the patch side divides the image side and nhead divides
  // d_model, and for a norm that is not registered.
  VisionTransformer(const Options& options, Generator& generator);

  Var forward(const Var& images) override;

  const Options& options() const { return options_; }

  Linear& patch_embedding;           // weight (d_model, patch_side^2)
  Parameter& position_embedding;     // (T, d_model), or (T + 1, d_model) with a class token
  Parameter* class_token = nullptr;  // (d_model), the first token
  Dropout& dropout;
  TransformerEncoder& encoder;
  Linear& head;  // weight (classes, d_model)

 private:
  Var cut(const Var& images) const;

  Options options_;
};

}  // namespace normlab
