#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "data/digits.hpp"
#include "nn/transformer/placement.hpp"
#include "nn/transformer/transformer_encoder.hpp"

namespace normlab {

// The images of an experiment as tokens: 2 x 2 patches of standardized pixels.
struct Tokens {
  Tensor patches;                    // (N, 16, 4)
  std::vector<std::int64_t> labels;  // (N); every token of an image carries its class

  std::int64_t images() const { return patches.shape()[0]; }
  std::int64_t count() const { return images() * patches.shape()[1]; }
};
Tokens tokens_of(const Digits& digits);

// The untrained stack that Xiong et al. (2020) analyse, on digits: embedding, L encoder layers
// without dropout, the final norm if the placement needs one, and a linear classifier of every
// token.
//
// All matrices of attention, feed-forward network and classifier are Xavier normal and their biases
// zero (section 3.3 of the paper), DeepNorm's times its beta; norms and gates start as they do by
// themselves. The random stream is used in this order: patch embedding E (4, d) / 2, position
// embedding P (16, d), then every matrix in the order of named_parameters, the classifier last.
class EncoderModel : public Layer {
 public:
  struct Config {
    std::int64_t d_model = 64, nhead = 4, dim_feedforward = 256;
    std::string norm = "layernorm";  // a name in nn::norms()
  };
  EncoderModel(const Config& config, std::int64_t layers, Placement placement, std::uint64_t seed);

  // scale * (patches E + P) / sqrt(2): entries of variance about scale^2. (n, 16, 4) -> (n, 16, d).
  Tensor embed(const Tensor& patches, double scale) const;
  // Embedded tokens (n, 16, d) -> logits (n, 16, 10).
  Var forward(const Var& x) override;
  // The sum of the cross-entropies of all tokens of images [first, last), on the tape.
  Var loss_sum(Tape& tape, const Tokens& tokens, double scale, std::int64_t first,
               std::int64_t last);
  // The same in parts: what enters the blocks, and the loss of what leaves them.
  Var stream(Tape& tape, const Tokens& tokens, double scale, std::int64_t first,
             std::int64_t last) const;
  Var loss_of_stream(const Var& stream, const Tokens& tokens, std::int64_t first,
                     std::int64_t last);

  TransformerEncoder& encoder() { return encoder_; }
  const Config& config() const { return config_; }

 private:
  Config config_;
  Generator generator_;
  Tensor patch_embedding_, position_embedding_;
  TransformerEncoder& encoder_;
  Linear& head_;
};

// How many images to compute at a time: few enough that what one block computes for them stays in
// the cache, and that the record of a deep stack stays small; but all of them where the norm lets
// one sequence depend on another (BatchNorm).
std::int64_t images_per_slice(const EncoderModel::Config& config, std::int64_t images);

// Calls f(first, last) for consecutive slices of the images. The gradient of a mean over all tokens
// is the sum of the slices' gradients: backward with seed 1 / tokens on each slice's loss_sum.
template <typename F>
void for_each_slice(const EncoderModel::Config& config, std::int64_t images, F f) {
  const std::int64_t step = images_per_slice(config, images);
  for (std::int64_t first = 0; first < images; first += step) {
    f(first, std::min(first + step, images));
  }
}

}  // namespace normlab
