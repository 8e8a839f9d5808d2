// The article's comparison of placements, for every norm: post-norm keeps its residual stream,
// pre-norm's grows, DiT's adaLN-Zero starts as the identity. docs/norms.md reads the table.
//
//   compare_norms --norm layernorm rmsnorm --placement post pre
#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/lab/program/program.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::compare_norms {

int main(int argc, const char* const* argv) {
  Options options = everything_registered();
  lab::Program program(
      {.name = "compare_norms",
       .description = "Every norm in every placement: gradients and residual stream of untrained\n"
                      "transformers on digits",
       .exit_codes = "Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input.",
       .resume = "note finished configurations in this file, and do not compute those again that "
                 "it has"},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kImages = 1797;
  o.add("--norm", options.norms, lab::OneOf{nn::norms().names()}, "norms").shown_default("all");
  o.add("--placement", options.placements, lab::OneOf{nn::placements().names()}, "placements")
      .shown_default("all");
  o.add("--layers", options.layers, lab::Whole{1, kMostLayers}, "depths");
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds of the weights");
  o.add("--width", options.width, lab::Whole{1, kMostWidth}, "width d of a token");
  o.add("--heads", options.heads, lab::Whole{1, kMostWidth},
        "attention heads; they divide the width");
  o.add("--ffn", options.ffn, lab::Whole{1, kMostWidth}, "width of the feed-forward network");
  o.add("--images", options.images, lab::Whole{2, kImages},
        "how many of the digits, from the first");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::compare_norms
