#pragma once

#include <functional>
#include <memory>

#include "nn/dropout.hpp"
#include "nn/linear.hpp"
#include "nn/multihead_attention.hpp"

namespace normlab {

// Makes a normalization layer for tokens of the given width.
using NormFactory = std::function<std::unique_ptr<Module>(std::int64_t width)>;

enum class Activation { relu, gelu };
Var activate(Activation activation, const Var& x);

// One transformer block of self-attention and feed-forward network, with PyTorch's parameter names,
// (N, T, d_model) -> (N, T, d_model) (batch_first=True):
//
//   post-norm  x = norm1(x + attention(x)),        x = norm2(x + ffn(x))          norm_first =
//   false pre-norm   x = x + attention(norm1(x)),        x = x + ffn(norm2(x))          norm_first
//   = true ffn(x) = linear2(activation(linear1(x)))
//
// (Xiong et al. 2020, Table 1). A stack of pre-norm blocks needs one more norm after the last
// block; that one belongs to TransformerEncoder.
//
// Taps, in order: norm1.input, self_attn.output, norm2.input, ffn.output; dotted names of
// submodules besides. In post-norm a norm's input is the residual sum, in pre-norm the stream.
class TransformerEncoderLayer : public Module {
 public:
  struct Options {
    std::int64_t dim_feedforward = 2048;
    double dropout = 0.1;
    Activation activation = Activation::relu;
    double layer_norm_eps = 1e-5;
    bool norm_first = false;
    bool bias = true;    // of every linear layer and LayerNorm
    NormFactory norm{};  // none: LayerNorm with layer_norm_eps and bias
  };
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator,
                          const Options& options);
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, Generator& generator)
      : TransformerEncoderLayer(d_model, nhead, generator, Options{}) {}

  Var forward(const Var& x) override { return forward(x, {}); }
  Var forward(const Var& x, const AttentionMasks& masks);

  const Options& options() const { return options_; }
  // The norm that the options ask for, for tokens of this width.
  static std::unique_ptr<Module> make_norm(const Options& options, std::int64_t width);

  MultiheadAttention& self_attn;
  Linear& linear1;  // (dim_feedforward, d_model)
  Dropout& dropout;
  Linear& linear2;  // (d_model, dim_feedforward)
  Module& norm1;
  Module& norm2;
  Dropout& dropout1;
  Dropout& dropout2;

 private:
  Var attention(const Var& x, const AttentionMasks& masks);
  Var feed_forward(const Var& x);

  Options options_;
};

}  // namespace normlab
