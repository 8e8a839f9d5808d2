// Tested by tests/nn/norms/norm_registry_test.cpp and by the conformance suite.
#include "nn/norms/norm_registry.hpp"

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/norms/adaptive_layer_norm.hpp"
#include "nn/norms/batch_norm.hpp"
#include "nn/norms/channel_layer_norm.hpp"
#include "nn/norms/dyt.hpp"
#include "nn/norms/group_norm.hpp"
#include "nn/norms/instance_norm.hpp"
#include "nn/norms/layer_norm.hpp"
#include "nn/norms/rms_norm.hpp"
#include "nn/norms/scale_norm.hpp"

namespace normlab {

namespace {

using Eps = std::optional<double>;

// Applies a layer for (N, C, positions) to tokens (N, T, d): features are channels, tokens
// positions.
class OverTokens : public Layer {
 public:
  explicit OverTokens(std::unique_ptr<Layer> inner)
      : inner_(register_module("norm", std::move(inner))) {}

  Var forward(const Var& x) override {
    return permute(inner_.forward(permute(x, {0, 2, 1})), {0, 2, 1});
  }

 private:
  Layer& inner_;
};

// The reference implementation of LayerNorm (centred) and RMSNorm.
class ReferenceNorm : public Layer {
 public:
  ReferenceNorm(std::int64_t width, double eps, bool centred)
      : weight_(register_parameter("weight", Tensor::ones({width}))), eps_(eps), centred_(centred) {
    if (centred) bias_ = &register_parameter("bias", Tensor::zeros({width}));
  }

  Var forward(const Var& x) override {
    Tape& tape = x.tape();
    const Var deviation = centred_ ? x - mean(x, {-1}, true) : x;
    const Var normalized =
        deviation / sqrt(mean(square(deviation), {-1}, true) + eps_) * tape.watch(weight_);
    return bias_ == nullptr ? normalized : normalized + tape.watch(*bias_);
  }

 private:
  Parameter& weight_;
  Parameter* bias_ = nullptr;
  double eps_;
  bool centred_;
};

constexpr NormProperties kPerToken{.shift_invariant = true,
                                   .scale_invariant = true,
                                   .odd = true,
                                   .token_independent = true,
                                   .batch_independent = true,
                                   .permutation_equivariant = true};

constexpr NormProperties without_shift(NormProperties properties) {
  properties.shift_invariant = false;
  return properties;
}

void add_layer_norms(Registry<NormEntry>& norms) {
  norms.add({.name = "layernorm",
             .description = "LayerNorm: every token centred and brought to unit variance",
             .equation = "y = weight * (x - mean) / sqrt(var + eps) + bias",
             .statistics = "the d features of one token",
             .make =
                 [](std::int64_t width, Eps eps) {
                   return std::make_unique<LayerNorm>(
                       width, LayerNorm::Options{.eps = eps.value_or(1e-5)});
                 },
             .properties = kPerToken,
             .reference =
                 [](std::int64_t width, Eps eps) {
                   return std::make_unique<ReferenceNorm>(width, eps.value_or(1e-5), true);
                 }});
  norms.add(
      {.name = "rmsnorm",
       .description = "RMSNorm: every token brought to unit root mean square, without centring",
       .equation = "y = weight * x / sqrt(mean(x^2) + eps)",
       .statistics = "the d features of one token",
       .make =
           [](std::int64_t width, Eps eps) {
             RMSNorm::Options options;
             options.eps = eps.value_or(options.eps);
             return std::make_unique<RMSNorm>(width, options);
           },
       .properties = without_shift(kPerToken),
       .reference =
           [](std::int64_t width, Eps eps) {
             return std::make_unique<ReferenceNorm>(width, eps.value_or(RMSNorm::Options{}.eps),
                                                    false);
           }});
  norms.add({.name = "scalenorm",
             .description = "ScaleNorm: every token brought to one learned length",
             .equation = "y = g * x / sqrt(|x|^2 + eps)",
             .statistics = "the d features of one token",
             .make = [](std::int64_t width,
                        Eps eps) { return std::make_unique<ScaleNorm>(width, eps.value_or(1e-5)); },
             .properties = without_shift(kPerToken)});
  norms.add({.name = "convnext",
             .description = "ConvNeXt's per-pixel LayerNorm: LayerNorm with eps 1e-6",
             .equation = "y = weight * (x - mean) / sqrt(var + eps) + bias",
             .statistics = "the d channels of one position",
             .make =
                 [](std::int64_t width, Eps eps) {
                   return std::make_unique<ChannelLayerNorm>(
                       width, ChannelLayerNorm::Options{.eps = eps.value_or(1e-6)});
                 },
             .properties = kPerToken});
  norms.add(
      {.name = "adaln",
       .description = "adaLN: LayerNorm whose scale and shift are regressed from a condition",
       .equation = "y = (1 + scale(c)) * (x - mean) / sqrt(var + eps) + shift(c), c the mean token",
       .statistics = "the d features of one token; scale and shift of one sequence",
       .make =
           [](std::int64_t width, Eps eps) {
             Generator generator(0);
             return std::make_unique<AdaptiveLayerNorm>(
                 width, width, generator, AdaptiveLayerNorm::Options{.eps = eps.value_or(1e-6)});
           },
       .properties = {.batch_independent = true}});
}

void add_norms_over_channels(Registry<NormEntry>& norms) {
  norms.add(
      {.name = "batchnorm",
       .description =
           "BatchNorm: every feature normalized over the batch; running statistics in evaluation",
       .equation = "y = weight * (x - mean) / sqrt(var + eps) + bias",
       .statistics = "one feature of all tokens of all sequences",
       .make =
           [](std::int64_t width, Eps eps) {
             return std::make_unique<OverTokens>(
                 std::make_unique<BatchNorm>(width, BatchNorm::Options{.eps = eps.value_or(1e-5)}));
           },
       .properties = {.odd = true,
                      .feature_independent = true,
                      .permutation_equivariant = true,
                      .running_statistics = true}});
  norms.add(
      {.name = "instancenorm",
       .description = "InstanceNorm: every feature normalized over the tokens of its sequence",
       .equation = "y = (x - mean) / sqrt(var + eps)",
       .statistics = "one feature of the tokens of one sequence",
       .make =
           [](std::int64_t width, Eps eps) {
             return std::make_unique<OverTokens>(std::make_unique<InstanceNorm>(
                 width, InstanceNorm::Options{.eps = eps.value_or(1e-5)}));
           },
       .properties = {.odd = true,
                      .batch_independent = true,
                      .feature_independent = true,
                      .permutation_equivariant = true}});
  norms.add(
      {.name = "groupnorm",
       .description = "GroupNorm: groups of features normalized over the tokens of their sequence",
       .equation = "y = weight * (x - mean) / sqrt(var + eps) + bias",
       .statistics =
           "the features of one group (2 groups if d is even, else 1) of one sequence's tokens",
       .make =
           [](std::int64_t width, Eps eps) {
             return std::make_unique<OverTokens>(std::make_unique<GroupNorm>(
                 width % 2 == 0 ? 2 : 1, width, GroupNorm::Options{.eps = eps.value_or(1e-5)}));
           },
       .properties = {.odd = true, .batch_independent = true}});
}

}  // namespace

namespace nn {

Registry<NormEntry>& norms() {
  static Registry<NormEntry> all = [] {
    Registry<NormEntry> built_in("norm");
    add_layer_norms(built_in);
    add_norms_over_channels(built_in);
    built_in.add({.name = "dyt",
                  .description = "DyT: a bounded function of each element in place of statistics",
                  .equation = "y = weight * tanh(alpha x) + bias",
                  .statistics = "none",
                  .make = [](std::int64_t width, Eps) { return std::make_unique<DyT>(width); },
                  .properties = {.odd = true,
                                 .token_independent = true,
                                 .batch_independent = true,
                                 .feature_independent = true,
                                 .permutation_equivariant = true}});
    return built_in;
  }();
  return all;
}

}  // namespace nn

}  // namespace normlab
