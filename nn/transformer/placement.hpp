#pragma once

#include <string>

#include "nn/registry.hpp"

namespace normlab {

// Where the norms stand in a transformer block. Each placement is one equation in
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
  std::string description;  // one line
  std::string equation;     // of one block, plain text; F stands for either residual branch
  // True if the residual stream grows from block to block without being normalized, so that a stack
  // of such blocks needs one more norm at its end.
  bool needs_final_norm;
  // True if a norm stands on the residual stream itself, so that the stream cannot grow.
  bool normalizes_stream = false;
};

namespace nn {

const Registry<PlacementEntry>& placements();

}  // namespace nn

const PlacementEntry& entry(Placement placement);
// The name on the command line: "post".
const std::string& name(Placement placement);
// The name in a sentence or table: "post-norm" and "pre-norm"; the others as on the command line.
std::string title(Placement placement);

// Whether a stack of blocks ends in one more norm. A second norm after post-norm would be the
// second in a row, so by default the placement decides; on and off override it.
enum class FinalNorm { as_placement_needs, on, off };
bool ends_in_norm(FinalNorm final_norm, Placement placement);

}  // namespace normlab
