#pragma once

#include <memory>
#include <vector>

#include "core/random.hpp"
#include "experiments/discrepancy/data.hpp"
#include "nn/layers/linear.hpp"
#include "nn/transformer/placement.hpp"
#include "nn/transformer/transformer_encoder.hpp"

namespace normlab::discrepancy {

class MemoryReader;

// The untrained network of a setup: embedding, L blocks, the final norm if the placement needs
// one, and a linear classifier of every token. In the article's setup it is EncoderModel, weight
// for weight: all matrices Xavier normal, biases zero, norm gains one, drawn in the same order.
//
// Only the matrices W2 (encoder.layers.*.linear2.weight) ask for gradients: the others' products
// are saved.
class SetupModel : public Layer {
 public:
  // `dropout_seed`, and the next one, decide what dropout drops and nothing else. Placement post or
  // pre.
  SetupModel(const Setup& setup, std::int64_t layers, Placement placement, std::uint64_t seed,
             std::uint64_t dropout_seed);

  // Content of sequences (n, tokens, features) -> tokens (n, tokens, width), entries of variance
  // about 1.
  Tensor embed(const Tensor& content) const;
  // Embedded tokens -> logits (n, tokens, classes).
  Var forward(const Var& x) override;
  // The sum of the cross-entropies of all tokens, on the tape.
  Var loss_sum(Tape& tape, const SequenceData& data);

  TransformerEncoder& encoder() { return encoder_; }

 private:
  void draw_weights(Generator& generator);
  Var words(Tape& tape, const Tensor& numbers) const;

  Setup setup_;
  Tensor token_embedding_, position_embedding_;  // none for Gaussian tokens
  TransformerEncoder& encoder_;
  Linear& head_;
  TransformerEncoder* memory_encoder_ = nullptr;
  std::vector<MemoryReader*> readers_;  // one per block, with cross_attention
};

}  // namespace normlab::discrepancy
