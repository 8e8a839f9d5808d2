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

std::unique_ptr<Layer> placed_norm(const BlockOptions& options, std::int64_t width, int which) {
  if (!has_norm(options.place(), which)) return std::make_unique<Identity>();
  if (options.place() == Placement::ada_ln_zero) {  // scale and shift come from the condition alone
    constexpr double kEpsOfDiT = 1e-6;
    return std::make_unique<LayerNorm>(
        width, LayerNorm::Options{.eps = kEpsOfDiT, .elementwise_affine = false});
  }
  return make_block_norm(options, width);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 Generator& generator, const Options& options)
    : self_attn(register_module("self_attn", make_attention(d_model, nhead, generator, options))),
      linear1(register_module("linear1",
                              make_linear(d_model, options.dim_feedforward, generator, options))),
      dropout(register_module("dropout", make_dropout(generator, options))),
      linear2(register_module("linear2",
                              make_linear(options.dim_feedforward, d_model, generator, options))),
      norm1(register_module("norm1", placed_norm(options, d_model, 1))),
      norm2(register_module("norm2", placed_norm(options, d_model, 2))),
      dropout1(register_module("dropout1", make_dropout(generator, options))),
      dropout2(register_module("dropout2", make_dropout(generator, options))),
      options_(options),
      attention_{self_attn, dropout1, "self_attn.output"},
      feed_forward_{linear1, options.activation, dropout, linear2, dropout2} {
  register_hyperparameter("placement", name(options.place()));
  register_hyperparameter("activation", name(options.activation));
  if (options.place() == Placement::deep_norm) {
    register_hyperparameter("alpha", options.deep_norm_alpha);
  }
  add_placement_parameters(d_model, generator);
}

void TransformerEncoderLayer::add_placement_parameters(std::int64_t d_model, Generator& generator) {
  switch (options_.place()) {
    case Placement::sandwich:
      norm1_out = &register_module("norm1_out", placed_norm(options_, d_model, 1));
      norm2_out = &register_module("norm2_out", placed_norm(options_, d_model, 2));
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

// What adaLN-Zero regresses from the condition: (N, 1, d) each.
struct TransformerEncoderLayer::Modulation {
  Var shift1, scale1, gate1, shift2, scale2, gate2;
};

TransformerEncoderLayer::Modulation TransformerEncoderLayer::modulate(const Var& condition,
                                                                      const Var& x) {
  const std::int64_t n = x.shape()[0], d = x.shape()[2];
  check_shape("TransformerEncoderLayer", "condition", condition.shape(), {n, d});
  const Var all = modulation->forward(silu(condition));
  const auto part = [&](std::int64_t i) {
    return reshape(slice(all, 1, i * d, (i + 1) * d), {n, 1, d});
  };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

Var TransformerEncoderLayer::forward(const Var& x, const AttentionMasks& masks,
                                     const std::optional<Var>& condition) {
  const Observer observer = [this](const char* name, const Var& v) { observe(name, v); };
  const auto attn = [&](const Var& v) { return attention_.self(v, masks, observer); };
  const auto ffn = [&](const Var& v) { return feed_forward_.forward(v, observer); };
  const ObservedNorm n1{norm1, "norm1.input", observer}, n2{norm2, "norm2.input", observer};
  const auto gate = [&](Parameter* parameter) { return x.tape().watch(*parameter); };
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
      const Modulation m = modulate(condition ? *condition : mean(x, {1}), x);
      const Var z = x + m.gate1 * attn(n1(x) * (m.scale1 + 1.0) + m.shift1);
      return z + m.gate2 * ffn(n2(z) * (m.scale2 + 1.0) + m.shift2);
    }
    case Placement::deep_norm: {
      const double alpha = options_.deep_norm_alpha;
      const Var z = n1(alpha * x + attn(x));
      return n2(alpha * z + ffn(z));
    }
    case Placement::re_zero: {
      const Var z = x + gate(gate1) * attn(x);
      return z + gate(gate2) * ffn(z);
    }
    case Placement::layer_scale: {
      const Var z = x + gate(gate1) * attn(n1(x));
      return z + gate(gate2) * ffn(n2(z));
    }
  }
  fail_misuse("TransformerEncoderLayer", "placement", "must be one of the enumerators",
              "another value");
}

}  // namespace normlab
