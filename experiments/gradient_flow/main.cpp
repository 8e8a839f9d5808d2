// What does a warmup change inside the layers? Gradients, relative updates and the residual stream
// over the first few hundred steps (docs/training.md, docs/warmup.md).
//
//   gradient_flow --placement post pre --warmup 0 100
#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/lab/program/program.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::gradient_flow {

int main(int argc, const char* const* argv) {
  Options options;
  lab::Program program(
      {.name = "gradient_flow",
       .description = "Gradients, updates and residual stream, layer by layer, while a\n"
                      "transformer trains on digits with and without a warmup",
       .exit_codes = "Exit code: 0; 2 for bad usage. Runs that diverge are results."},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 1'000'000;
  o.add("--norm", options.norm, lab::OneOf{nn::norms().names()}, "the norm");
  o.add("--placement", options.placements, lab::OneOf{nn::placements().names()}, "placements");
  o.add("--layers", options.layers, lab::Whole{1, kMostLayers}, "blocks");
  o.add("--width", options.width, lab::Whole{1, kMostWidth},
        "width d of a token; a multiple of the 4 heads");
  o.add("--optimizer", options.optimizer, lab::OneOf{optimizer_names()}, "the optimizer");
  o.add("--lr", options.lr, lab::AtLeast{0.0}, "peak learning rate, constant after the warmup");
  o.add("--warmup", options.warmups, lab::Whole{0, kMost},
        "lengths of the warmup in steps; 0: none");
  o.add("--batch-size", options.batch_size, lab::Whole{1, kMost}, "images per step");
  o.add("--steps", options.steps, lab::Whole{1, kMost}, "updates before the last snapshot");
  o.add("--every", options.every, lab::Whole{1, kMost}, "steps from one snapshot to the next");
  o.add("--seed", options.seed, lab::AnySeed{}, "of weights and order");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::gradient_flow
