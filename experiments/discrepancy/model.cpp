// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/model.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"
#include "nn/layers/multihead_attention.hpp"
#include "nn/norms/layer_norm.hpp"

namespace normlab::discrepancy {

// The sub-layer by which a decoder reads an encoder: norm(x + attention(x, memory)) in post-norm,
// x + attention(norm(x), memory) in pre-norm.
class MemoryReader : public Module {
 public:
  MemoryReader(const Setup& setup, Placement placement, Generator& generator)
      : attention_(register_module("attention",
                                   std::make_unique<MultiheadAttention>(
                                       setup.width, setup.heads, generator,
                                       MultiheadAttention::Options{.dropout = setup.dropout}))),
        dropout_(register_module("dropout", std::make_unique<Dropout>(setup.dropout, generator))),
        norm_(register_module("norm", std::make_unique<LayerNorm>(setup.width))),
        pre_(placement == Placement::pre) {}

  Var read(const Var& x, const Var& memory) {
    const auto attention = [&](const Var& queries) {
      return dropout_.forward(attention_.attend(queries, memory, memory).output);
    };
    return pre_ ? x + attention(norm_.forward(x)) : norm_.forward(x + attention(x));
  }

 private:
  MultiheadAttention& attention_;
  Dropout& dropout_;
  LayerNorm& norm_;
  bool pre_;
};

namespace {

// Modules draw a default initialization, which is overwritten; what is left of this generator is
// the seeds of their dropout.
std::unique_ptr<TransformerEncoder> untrained_stack(const Setup& setup, std::int64_t layers,
                                                    Placement placement, Generator& generator) {
  const TransformerEncoderLayer::Options options{
      .dim_feedforward = setup.ffn(), .dropout = setup.dropout, .placement = placement};
  return std::make_unique<TransformerEncoder>(layers, setup.width, setup.heads, generator, options);
}

std::unique_ptr<Linear> untrained_head(const Setup& setup) {
  Generator overwritten;
  return std::make_unique<Linear>(setup.width, setup.classes, overwritten);
}

void multiply(Tensor& tensor, double factor) {
  for (double& value : tensor.mutable_values()) value *= factor;
}

// Of the packed in_proj_weight (3d, d), the queries' and keys' part.
void zero_query_key(Tensor& in_proj) {
  std::fill_n(in_proj.mutable_data(), in_proj.numel() / 3 * 2, 0.0);
}

}  // namespace

SetupModel::SetupModel(const Setup& setup, std::int64_t layers, Placement placement,
                       std::uint64_t seed, std::uint64_t dropout_seed)
    : setup_(setup),
      encoder_([&]() -> TransformerEncoder& {
        Generator generator(dropout_seed);
        return register_module("encoder", untrained_stack(setup, layers, placement, generator));
      }()),
      head_(register_module("head", untrained_head(setup))) {
  check(placement == Placement::post || placement == Placement::pre, "SetupModel", "placement",
        "must be post or pre", [&] { return normlab::name(placement); });
  if (setup.cross_attention) {
    Generator generator(dropout_seed + 1);
    memory_encoder_ =
        &register_module("memory_encoder", untrained_stack(setup, layers, placement, generator));
    for (std::int64_t i = 0; i < layers; ++i) {
      readers_.push_back(
          &register_module("readers." + std::to_string(i),
                           std::make_unique<MemoryReader>(setup, placement, generator)));
    }
  }
  Generator generator(seed);
  draw_weights(generator);
}

void SetupModel::draw_weights(Generator& generator) {
  if (setup_.source == TokenSource::patches) {
    const std::int64_t side = patch_side(setup_.tokens);
    token_embedding_ = generator.randn({side * side, setup_.width});
    multiply(token_embedding_, 1.0 / static_cast<double>(side));
  } else if (setup_.source == TokenSource::vocabulary) {
    token_embedding_ = generator.randn({kVocabulary, setup_.width});
  }
  if (setup_.source != TokenSource::gaussian) {
    position_embedding_ = generator.randn({setup_.tokens, setup_.width});
  }
  for (const auto& [parameter_name, parameter] : named_parameters()) {
    parameter->requires_grad = parameter_name.starts_with("encoder.layers.") &&
                               parameter_name.ends_with(".linear2.weight");
    if (parameter->value.rank() == 2) {
      init::xavier_normal(parameter->value, generator);
    } else if (parameter_name.ends_with("bias")) {
      init::zeros(parameter->value);
    }
    if (setup_.zero_query_key && parameter_name.ends_with("in_proj_weight")) {
      zero_query_key(parameter->value);
    }
  }
  if (setup_.logit_deviation > 0.0) {
    const auto width = static_cast<double>(setup_.width),
               classes = static_cast<double>(setup_.classes);
    multiply(head_.weight.value,
             setup_.logit_deviation / std::sqrt(2.0 * width / (width + classes)));
  }
}

Tensor SetupModel::embed(const Tensor& content) const {
  if (setup_.source == TokenSource::gaussian) return content;
  Tape tape;
  const Var embedded = setup_.source == TokenSource::patches
                           ? matmul(tape.constant(content), tape.constant(token_embedding_))
                           : words(tape, content);
  return ((embedded + tape.constant(position_embedding_)) * (1.0 / std::sqrt(2.0))).value();
}

Var SetupModel::words(Tape& tape, const Tensor& numbers) const {
  std::vector<std::int64_t> rows;
  for (double number : numbers.values()) rows.push_back(static_cast<std::int64_t>(number));
  return reshape(index_select(tape.constant(token_embedding_), rows),
                 {numbers.shape()[0], numbers.shape()[1], setup_.width});
}

Var SetupModel::forward(const Var& x) {
  Var stream = x;
  const Var memory = memory_encoder_ != nullptr ? memory_encoder_->forward(x) : x;
  for (std::size_t i = 0; i < encoder_.layers.size(); ++i) {
    if (!readers_.empty()) stream = readers_[i]->read(stream, memory);
    stream = encoder_.layers[i]->forward(stream);
  }
  if (encoder_.norm != nullptr) stream = encoder_.norm->forward(stream);
  observe("output", stream);
  return head_.forward(stream);
}

Var SetupModel::loss_sum(Tape& tape, const SequenceData& data) {
  Var x = tape.constant(embed(data.content));
  if (setup_.embedding_norm) x = layer_norm(x, {setup_.width});
  return cross_entropy(forward(x), data.labels,
                       {.reduction = Reduction::sum, .label_smoothing = setup_.label_smoothing});
}

}  // namespace normlab::discrepancy
