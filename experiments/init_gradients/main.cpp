// Claim: at initialization the last layer's gradient is large in post-norm whatever the depth, and
// falls with the depth in pre-norm, whose residual stream grows (Xiong et al. 2020, section 3).
// docs/reproducing.md reads the tables line by line; the defaults are the published run.
//
//   init_gradients --seeds 0 1 --layers 2 4 --images 16
#include <limits>

#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/lab/program/program.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::init_gradients {

int main(int argc, const char* const* argv) {
  Options options;
  EncoderModel::Config& model = options.model;
  std::vector<std::string> scales{"unit", "1/sqrt(d)"};
  lab::Program program(
      {.name = "init_gradients",
       .description = "Gradients of untrained post-norm and pre-norm transformers on digits\n"
                      "(Xiong et al. 2020)",
       .exit_codes = "Exit code: 0; 1 if a self-check failed or a\nnumber is not finite; 2 for bad "
                     "usage or bad input."},
      argc, argv);
  lab::Options& o = program.options();
  const lab::Whole depth{1, kMostLayers}, width{1, kMostWidth};
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds of the weights");
  o.add("--layers", options.layers, depth, "depths of the depth table");
  o.add("--profile-layers", options.profile_layers, depth, "depth of the table over layers")
      .shown_default("12 if among --layers, else the deepest");
  o.add("--width", model.d_model, width, "width d of a token");
  o.add("--heads", model.nhead, width, "attention heads; they divide the width");
  o.add("--ffn", model.dim_feedforward, width, "width of the feed-forward network");
  o.add("--images", options.images, lab::Whole{1, std::numeric_limits<std::int64_t>::max()},
        "how many of the digits, from the first");
  o.add("--input-scale", scales, lab::AnyText{},
        "scales of the embedded input: unit, 1/sqrt(d) or positive numbers; the table over layers "
        "uses the first");
  o.add("--placement", options.placements, lab::OneOf{nn::placements().names()}, "placements");
  o.add("--norm", model.norm, lab::OneOf{nn::norms().names()}, "the norm");
  o.add("--digits", options.digits, lab::File{lab::File::Use::read},
        "a CSV file in the form of data/digits.csv, in place of the built-in one");
  return program.run(
      [&] {
        options.scales = input_scales(scales, model.d_model);
        if (!o.given("--profile-layers")) options.profile_layers = default_profile(options.layers);
        check(options);
      },
      [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::init_gradients
