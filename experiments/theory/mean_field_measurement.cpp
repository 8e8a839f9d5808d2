// Tested by tests/experiments/theory/simplified_transformer_test.cpp.
#include "experiments/theory/mean_field_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/check.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/linear.hpp"
#include "experiments/theory/simplified_transformer.hpp"

namespace normlab {

namespace {

double squared_norm(std::span<const double> values) {
  const double* data = values.data();
  return lane_sum(std::ssize(values), [data](std::int64_t i) { return data[i] * data[i]; });
}

PairMoments moments_per_coordinate(const Tensor& x) {
  return pair_moments(x) / static_cast<double>(x.width());
}

std::vector<double> sizes_per_coordinate(const Tensor& x) {
  const auto d = static_cast<std::size_t>(x.width());
  std::vector<double> sizes;
  for (std::size_t token = 0; token < static_cast<std::size_t>(x.rows()); ++token) {
    sizes.push_back(squared_norm(x.values().subspan(token * d, d)) / static_cast<double>(d));
  }
  return sizes;
}

// A part that all tokens share, one that the tokens of a sequence share, and one of each token's
// own: their variances are what the three moments differ by.
Tensor gaussian_tokens(const MeanFieldSetting& setting, Generator& generator) {
  const std::int64_t sequences = setting.sequences, n = setting.tokens, d = setting.width;
  const PairMoments& input = setting.input;
  const Tensor all = generator.randn({d});
  const Tensor of_sequence = generator.randn({sequences, d});
  Tensor x = generator.randn({sequences, n, d});
  const double root_all = std::sqrt(input.across);
  const double root_sequence = std::sqrt(input.within - input.across);
  const double root_token = std::sqrt(input.same - input.within);
  double* at = x.mutable_data();
  for (std::int64_t token = 0; token < sequences * n; ++token) {
    const double* shared = of_sequence.data() + token / n * d;
    for (std::int64_t i = 0; i < d; ++i, ++at) {
      *at = root_token * *at + root_sequence * shared[i] + root_all * all.data()[i];
    }
  }
  return x;
}

std::vector<std::int64_t> random_labels(const MeanFieldSetting& setting, Generator& generator) {
  std::vector<std::int64_t> labels;
  std::int64_t label = 0;
  for (std::int64_t token = 0; token < setting.sequences * setting.tokens; ++token) {
    const bool draws = !setting.one_label_per_sequence || token % setting.tokens == 0;
    if (draws) label = generator.randint(setting.classes);
    labels.push_back(label);
  }
  return labels;
}

}  // namespace

MeanFieldMeasurement measure_simplified(const MeanFieldSetting& setting, std::uint64_t seed,
                                        Passes passes) {
  const PairMoments& input = setting.input;
  check(input.across >= 0.0 && input.within >= input.across && input.same >= input.within,
        "measure_simplified", "input", "must have moments 0 <= across <= within <= same",
        "another order");
  Generator generator(seed);
  const Tensor tokens = gaussian_tokens(setting, generator);
  const std::vector<std::int64_t> labels = random_labels(setting, generator);
  SimplifiedTransformer model({.placement = setting.placement,
                               .layers = setting.layers,
                               .width = setting.width,
                               .ffn = setting.ffn,
                               .classes = setting.classes},
                              generator);
  MeanFieldMeasurement result{.input = moments_per_coordinate(tokens)};
  std::optional<Var> head_input;
  PairMoments entering = result.input;
  model.register_hook([&](const std::string& name, const Var& value) {
    if (name == "head.input") {
      head_input = value;
      return;
    }
    const PairMoments moments = moments_per_coordinate(value.value());
    if (name.ends_with("after_attention")) {
      result.blocks.push_back({entering, moments, {}});
    } else {
      result.blocks.back().after_ffn = moments;
      if (std::ssize(result.blocks) == setting.layers) {
        result.last_sizes = sizes_per_coordinate(value.value());
      }
      entering = setting.placement == Placement::post ? moments / moments.same : moments;
    }
  });
  Tape tape;
  if (passes == Passes::forward) {
    const Tape::NoGrad no_grad(tape);
    model.forward(tape.constant(tokens));
    return result;
  }
  const Var loss = cross_entropy(model.forward(tape.constant(tokens)), labels);
  head_input->retain_grad();
  tape.backward(loss);
  result.output_gradient = pair_moments(head_input->grad());
  for (const SimplifiedBlock* block : model.blocks) {
    result.gradients.w1.push_back(squared_norm(block->w1.grad.values()));
    result.gradients.w2.push_back(squared_norm(block->w2.grad.values()));
    result.gradients.wv.push_back(squared_norm(block->wv.grad.values()));
  }
  return result;
}

namespace {

// The name under which the sum after the ffn of block l is observed: what post-norm's second norm
// receives; else what the next block, or the final norm, receives.
std::vector<std::string> names_after_ffn(Placement placement, std::int64_t layers) {
  std::vector<std::string> names;
  for (std::int64_t l = 0; l < layers; ++l) {
    if (placement == Placement::post) {
      names.push_back("layers." + std::to_string(l) + ".norm2.input");
    } else {
      names.push_back(l + 1 < layers ? "layers." + std::to_string(l + 1) + ".input" : "norm.input");
    }
  }
  return names;
}

}  // namespace

MeanFieldMeasurement measure_encoder(const EncoderModel::Config& config, Placement placement,
                                     std::int64_t layers, std::uint64_t seed,
                                     const Tokens& tokens) {
  EncoderModel model(config, layers, placement, seed);
  const Tensor x = model.embed(tokens.patches, 1.0);
  MeanFieldMeasurement result{.input = moments_per_coordinate(x)};
  const std::vector<std::string> names = names_after_ffn(placement, layers);
  PairMoments entering = result.input;
  model.encoder().register_hook([&](const std::string& name, const Var& value) {
    if (result.blocks.size() == names.size() || name != names[result.blocks.size()]) return;
    const PairMoments moments = moments_per_coordinate(value.value());
    result.blocks.push_back({entering, {}, moments});
    entering = placement == Placement::post ? moments / moments.same : moments;
  });
  std::vector<std::int64_t> labels;
  for (std::int64_t label : tokens.labels) {
    labels.insert(labels.end(), static_cast<std::size_t>(x.shape()[1]), label);
  }
  Tape tape;
  const Var features = model.encoder().forward(tape.constant(x));
  features.retain_grad();
  const Var logits = linear(features, tape.watch(model.parameter("head.weight")),
                            tape.watch(model.parameter("head.bias")));
  tape.backward(cross_entropy(logits, labels));
  result.output_gradient = pair_moments(features.grad());
  for (const TransformerEncoderLayer* layer : model.encoder().layers) {
    result.gradients.w1.push_back(squared_norm(layer->linear1.weight.grad.values()));
    result.gradients.w2.push_back(squared_norm(layer->linear2.weight.grad.values()));
    const auto in_proj = layer->self_attn.in_proj_weight.grad.values();  // W_Q, W_K, W_V stacked
    result.gradients.wv.push_back(squared_norm(in_proj.last(in_proj.size() / 3)));
  }
  return result;
}

MeanFieldSetting setting_of_encoder(const EncoderModel::Config& config, Placement placement,
                                    std::int64_t layers, const Tokens& tokens,
                                    const PairMoments& input) {
  return {.placement = placement,
          .layers = layers,
          .width = config.d_model,
          .ffn = config.dim_feedforward,
          .tokens = tokens.count() / tokens.images(),
          .sequences = tokens.images(),
          .classes = kDigitClasses,
          .input = input,
          .value_gain = 0.5,  // Xavier's variance of the packed (3 d, d) matrix is 2 / (4 d)
          .one_label_per_sequence = true};
}

}  // namespace normlab
