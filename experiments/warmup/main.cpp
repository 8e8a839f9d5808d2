// Which transformers need a learning-rate warmup? Xiong et al. (2020) found that post-norm does
// under Adam, and that pre-norm does not (docs/warmup.md).
//
//   warmup --task digits --layers 12 --optimizer adam radam --resume warmup.jsonl
#include "experiments/lab/program/program.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab::warmup {

int main(int argc, const char* const* argv) {
  Options options;
  lab::Program program(
      {.name = "warmup",
       .description = "Which transformers need a learning-rate warmup: a grid of training runs",
       .exit_codes = "Exit code: 0; 2 for bad usage or bad input. Runs that fail are results.",
       .resume = "note finished runs in this file, and do not train those again that it has"},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 1'000'000;
  o.add("--task", options.tasks, lab::OneOf{task_names()}, "what is learned");
  o.add("--placement", options.placements, lab::OneOf{nn::placements().names()}, "placements");
  o.add("--layers", options.layers, lab::Whole{1, kMostLayers}, "depths");
  o.add("--optimizer", options.optimizers, lab::OneOf{optimizer_names()}, "optimizers");
  o.add("--warmup", options.warmups, lab::Whole{0, kMost},
        "lengths of the warmup in steps; 0: none");
  o.add("--lr", options.rates, lab::AtLeast{0.0}, "peak learning rates");
  o.add("--sgd-lr", options.sgd_rates, lab::AtLeast{0.0}, "those of sgd");
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds");
  o.add("--epochs", options.epochs, lab::Whole{1, kMost}, "epochs of each run");
  o.add("--batch-size", options.batch_size, lab::Whole{1, kMost}, "examples per step");
  o.add("--width", options.width, lab::Whole{1, kMostWidth},
        "width d of a token; a multiple of the 4 heads");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::warmup
