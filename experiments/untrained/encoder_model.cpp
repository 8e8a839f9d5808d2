// Tested by tests/experiments/untrained/gradients_test.cpp against PyTorch.
#include "experiments/untrained/encoder_model.hpp"

#include <cmath>

#include "core/ops/arithmetic.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/matmul.hpp"
#include "nn/init.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr std::int64_t kPatchSide = 2;
constexpr std::int64_t kPatchPixels = kPatchSide * kPatchSide;
constexpr std::int64_t kTokensPerImage = kDigitSide * kDigitSide / kPatchPixels;

Tensor rows_of(const Tensor& x, std::int64_t first, std::int64_t last) {
  const std::int64_t row = x.numel() / x.shape()[0];
  return Tensor(x.shape().with_axis(0, last - first),
                x.values().subspan(static_cast<std::size_t>(first * row),
                                   static_cast<std::size_t>((last - first) * row)));
}

// Modules draw a default initialization; it is overwritten, so its generator is of no consequence.
std::unique_ptr<TransformerEncoder> untrained_encoder(const EncoderModel::Config& config,
                                                      std::int64_t layers, Placement placement) {
  Generator overwritten;
  const TransformerEncoderLayer::Options options{.dim_feedforward = config.dim_feedforward,
                                                 .dropout = 0.0,
                                                 .norm = nn::norms().at(config.norm).factory(),
                                                 .placement = placement};
  return std::make_unique<TransformerEncoder>(layers, config.d_model, config.nhead, overwritten,
                                              options);
}

std::unique_ptr<Linear> untrained_head(std::int64_t width) {
  Generator overwritten;
  return std::make_unique<Linear>(width, kDigitClasses, overwritten);
}

void draw(Linear& linear, Generator& generator) {
  init::xavier_normal(linear.weight.value, generator);
  init::zeros(linear.bias->value);
}

}  // namespace

Tokens tokens_of(const Digits& digits) {
  return {patches(standardize(digits.images), kPatchSide), digits.labels};
}

EncoderModel::EncoderModel(const Config& config, std::int64_t layers, Placement placement,
                           std::uint64_t seed)
    : config_(config),
      generator_(seed),
      patch_embedding_(generator_.randn({kPatchPixels, config.d_model})),
      position_embedding_(generator_.randn({kTokensPerImage, config.d_model})),
      encoder_(register_module("encoder", untrained_encoder(config, layers, placement))),
      head_(register_module("head", untrained_head(config.d_model))) {
  for (double& value : patch_embedding_.mutable_values()) value /= 2.0;
  for (TransformerEncoderLayer* layer : encoder_.layers) {
    init::xavier_normal(layer->self_attn.in_proj_weight.value, generator_);
    init::zeros(layer->self_attn.in_proj_bias->value);
    for (Linear* linear : {&layer->self_attn.out_proj, &layer->linear1, &layer->linear2}) {
      draw(*linear, generator_);
    }
    layer->scale_branch_weights(layer->options().deep_norm_beta);  // 1 in other placements
  }
  draw(head_, generator_);
}

std::int64_t images_per_slice(const EncoderModel::Config& config, std::int64_t images) {
  constexpr std::int64_t kFew = 16;
  return nn::norms().at(config.norm).properties.batch_independent ? kFew : images;
}

Tensor EncoderModel::embed(const Tensor& patches, double scale) const {
  Tape tape;
  const Var embedded = matmul(tape.constant(patches), tape.constant(patch_embedding_)) +
                       tape.constant(position_embedding_);
  return (embedded * (scale / std::sqrt(2.0))).value();
}

Var EncoderModel::forward(const Var& x) { return head_.forward(encoder_.forward(x)); }

Var EncoderModel::loss_sum(Tape& tape, const Tokens& tokens, double scale, std::int64_t first,
                           std::int64_t last) {
  Var x = stream(tape, tokens, scale, first, last);
  for (TransformerEncoderLayer* layer : encoder_.layers) x = layer->forward(x);
  return loss_of_stream(x, tokens, first, last);
}

Var EncoderModel::stream(Tape& tape, const Tokens& tokens, double scale, std::int64_t first,
                         std::int64_t last) const {
  return tape.constant(embed(rows_of(tokens.patches, first, last), scale));
}

Var EncoderModel::loss_of_stream(const Var& stream, const Tokens& tokens, std::int64_t first,
                                 std::int64_t last) {
  std::vector<std::int64_t> targets;
  for (std::int64_t image = first; image < last; ++image) {
    targets.insert(targets.end(), kTokensPerImage, tokens.labels[static_cast<std::size_t>(image)]);
  }
  return cross_entropy(head_.forward(encoder_.finish(stream)), targets,
                       {.reduction = Reduction::sum});
}

}  // namespace normlab
