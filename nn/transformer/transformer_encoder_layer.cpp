// Tested by tests/nn/transformer/transformer_encoder_layer_test.cpp.
#include "nn/transformer/transformer_encoder_layer.hpp"

#include <span>

#include "core/check.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"
#include "nn/norms/layer_norm.hpp"

namespace normlab {

namespace {

class Identity : public Layer {
 public:
  Var forward(const Var& x) override { return x; }
};

bool has_norm(Placement placement, int which) {
  return placement != Placement::re_zero && !(placement == Placement::parallel && which == 2);
}

std::unique_ptr<Layer> block_norm(const TransformerEncoderLayer::Options& options,
                                  std::int64_t width, int which) {
  if (!has_norm(options.place(), which)) return std::make_unique<Identity>();
  if (options.place() == Placement::ada_ln_zero) {  // scale and shift come from the condition alone
    constexpr double kEpsOfDiT = 1e-6;
    return std::make_unique<LayerNorm>(
        width, LayerNorm::Options{.eps = kEpsOfDiT, .elementwise_affine = false});
  }
  return TransformerEncoderLayer::make_block_norm(options, width);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 Generator& generator, const Options& options)
    : self_attn(register_module(
          "self_attn", std::make_unique<MultiheadAttention>(
                           d_model, nhead, generator,
                           MultiheadAttention::Options{.dropout = options.dropout,
                                                       .bias = options.bias,
                                                       .qk_norm = options.qk_norm,
                                                       .cosine = options.cosine_attention}))),
      linear1(register_module("linear1",
                              std::make_unique<Linear>(d_model, options.dim_feedforward, generator,
                                                       Linear::Options{options.bias}))),
      dropout(register_module("dropout", std::make_unique<Dropout>(options.dropout, generator))),
      linear2(register_module("linear2",
                              std::make_unique<Linear>(options.dim_feedforward, d_model, generator,
                                                       Linear::Options{options.bias}))),
      norm1(register_module("norm1", block_norm(options, d_model, 1))),
      norm2(register_module("norm2", block_norm(options, d_model, 2))),
      dropout1(register_module("dropout1", std::make_unique<Dropout>(options.dropout, generator))),
      dropout2(register_module("dropout2", std::make_unique<Dropout>(options.dropout, generator))),
      options_(options) {
  register_hyperparameter("placement", name(options.place()));
  register_hyperparameter("activation", name(options.activation));
  if (options.place() == Placement::deep_norm)
    register_hyperparameter("alpha", options.deep_norm_alpha);
  add_placement_parameters(d_model, generator);
}

void TransformerEncoderLayer::add_placement_parameters(std::int64_t d_model, Generator& generator) {
  switch (options_.place()) {
    case Placement::sandwich:
      norm1_out = &register_module("norm1_out", block_norm(options_, d_model, 1));
      norm2_out = &register_module("norm2_out", block_norm(options_, d_model, 2));
      break;
    case Placement::re_zero:
      gate1 = &register_parameter("gate1", Tensor::scalar(0.0));
      gate2 = &register_parameter("gate2", Tensor::scalar(0.0));
      break;
    case Placement::layer_scale:
      gate1 = &register_parameter("gate1", Tensor::full({d_model}, options_.layer_scale_init));
      gate2 = &register_parameter("gate2", Tensor::full({d_model}, options_.layer_scale_init));
      break;
    case Placement::ada_ln_zero:
      modulation =
          &register_module("modulation", std::make_unique<Linear>(d_model, 6 * d_model, generator));
      init::zeros(modulation->weight.value);
      init::zeros(modulation->bias->value);
      break;
    case Placement::deep_norm:
      scale_branch_weights(options_.deep_norm_beta);
      break;
    default:
      break;
  }
}

void TransformerEncoderLayer::scale_branch_weights(double factor) {
  const auto scale = [factor](std::span<double> weights) {
    for (double& weight : weights) weight *= factor;
  };
  const std::span<double> in_proj = self_attn.in_proj_weight.value.mutable_values();
  scale(in_proj.last(in_proj.size() / 3));  // W_V, the last of the three stacked matrices
  scale(self_attn.out_proj.weight.value.mutable_values());
  scale(linear1.weight.value.mutable_values());
  scale(linear2.weight.value.mutable_values());
}

std::unique_ptr<Layer> TransformerEncoderLayer::make_norm(const Options& options,
                                                          std::int64_t width) {
  if (options.norm) {
    std::unique_ptr<Layer> norm = options.norm(width);
    check(norm != nullptr, "TransformerEncoderLayer", "norm", "must make a module", "none");
    return norm;
  }
  return std::make_unique<LayerNorm>(
      width, LayerNorm::Options{.eps = options.layer_norm_eps, .bias = options.bias});
}

std::unique_ptr<Layer> TransformerEncoderLayer::make_block_norm(const Options& options,
                                                                std::int64_t width) {
  std::unique_ptr<Layer> norm = make_norm(options, width);
  for (const auto& [parameter_name, parameter] : norm->named_parameters()) {
    if (options.norm_weight != 1.0 && parameter_name == "weight") {
      init::constant(parameter->value, options.norm_weight);
    }
  }
  return norm;
}

Var TransformerEncoderLayer::attention(const Var& x, const AttentionMasks& masks) {
  const Var output = dropout1.forward(self_attn.attend(x, masks).output);
  observe("self_attn.output", output);
  return output;
}

Var TransformerEncoderLayer::feed_forward(const Var& x) {
  const FeedForward ffn{linear1, options_.activation, dropout, linear2, dropout2};
  return ffn.forward(x, [this](const char* point, const Var& value) { observe(point, value); });
}

// What adaLN-Zero regresses from the condition: (N, 1, d) each.
struct TransformerEncoderLayer::Modulation {
  Var shift1, scale1, gate1, shift2, scale2, gate2;
};

TransformerEncoderLayer::Modulation TransformerEncoderLayer::modulate(const Var& condition) {
  const std::int64_t d = condition.value().width();
  const Var all = modulation->forward(silu(condition));
  const auto part = [&](std::int64_t i) {
    return reshape(slice(all, 1, i * d, (i + 1) * d), {condition.shape()[0], 1, d});
  };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

Var TransformerEncoderLayer::forward(const Var& x, const AttentionMasks& masks,
                                     const std::optional<Var>& condition) {
  const auto attn = [&](const Var& v) { return attention(v, masks); };
  const auto ffn = [&](const Var& v) { return feed_forward(v); };
  const auto n1 = [&](const Var& v) {
    observe("norm1.input", v);
    return norm1.forward(v);
  };
  const auto n2 = [&](const Var& v) {
    observe("norm2.input", v);
    return norm2.forward(v);
  };
  const auto watch = [&](Parameter* parameter) { return x.tape().watch(*parameter); };
  observe("input", x);

  switch (options_.place()) {
    case Placement::post: {
      const Var z = n1(x + attn(x));
      return n2(z + ffn(z));
    }
    case Placement::pre: {
      const Var z = x + attn(n1(x));
      return z + ffn(n2(z));
    }
    case Placement::res_post: {
      const Var z = x + n1(attn(x));
      return z + n2(ffn(z));
    }
    case Placement::sandwich: {
      const Var z = x + norm1_out->forward(attn(n1(x)));
      return z + norm2_out->forward(ffn(n2(z)));
    }
    case Placement::parallel: {
      const Var normalized = n1(x);
      const Var z = x + attn(normalized);
      return z + ffn(normalized);
    }
    case Placement::ada_ln_zero: {
      const Modulation m = modulate(condition ? *condition : mean(x, {1}));
      const Var z = x + m.gate1 * attn(n1(x) * (m.scale1 + 1.0) + m.shift1);
      return z + m.gate2 * ffn(n2(z) * (m.scale2 + 1.0) + m.shift2);
    }
    case Placement::deep_norm: {
      const double alpha = options_.deep_norm_alpha;
      const Var z = n1(alpha * x + attn(x));
      return n2(alpha * z + ffn(z));
    }
    case Placement::re_zero: {
      const Var z = x + watch(gate1) * attn(x);
      return z + watch(gate2) * ffn(z);
    }
    case Placement::layer_scale: {
      const Var z = x + watch(gate1) * attn(n1(x));
      return z + watch(gate2) * ffn(n2(z));
    }
  }
  fail_misuse("TransformerEncoderLayer", "placement", "must be one of the enumerators",
              "another value");
}

}  // namespace normlab
