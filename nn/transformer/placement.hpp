#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/random.hpp"
#include "nn/registry.hpp"

namespace normlab {

// Where the normalization stands in a transformer block. Each is one equation in
// TransformerEncoderLayer::forward.
enum class Placement {
  post,         // the original transformer (Vaswani et al. 2017)
  pre,          // Xiong et al. 2020, Table 1; GPT-2, ViT
  res_post,     // Swin V2 (Liu et al. 2022)
  sandwich,     // CogView (Ding et al. 2021)
  parallel,     // ViT-22B (Dehghani et al. 2023)
  ada_ln_zero,  // DiT (Peebles and Xie 2023)
  deep_norm,    // DeepNet (Wang et al. 2022)
  re_zero,      // ReZero (Bachlechner et al. 2020)
  layer_scale,  // CaiT (Touvron et al. 2021)
};

struct PlacementEntry {
  Placement placement;
  std::string name;         // as on the command line: "post"
  std::string description;  // one line: what it is for
  std::string equation;     // of one block, plain text; F stands for either branch
  // Does a stack of such blocks need one more norm at its end? Where the stream grows from block to
  // block without ever being normalized.
  bool needs_final_norm;
  // Does a norm stand on the stream itself, so that it cannot grow?
  bool normalizes_stream = false;
};

namespace nn {

const Registry<PlacementEntry>& placements();

}  // namespace nn

const PlacementEntry& entry(Placement placement);
// The name on the command line: "post".
const std::string& name(Placement placement);
// As in a sentence or a table: "post-norm", "pre-norm"; the others are called by their name.
std::string title(Placement placement);

}  // namespace normlab
