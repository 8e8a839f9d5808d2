// A vision transformer, trained on 1,797 digits with any norm and placement (docs/training.md).
//
//   train_digits --norm rmsnorm --placement post --checkpoint run.safetensors
#include "experiments/lab/program/program.hpp"
#include "experiments/lab/training/training_program.hpp"
#include "experiments/train_digits/train_digits.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::train_digits {

int main(int argc, const char* const* argv) {
  const std::string name = "train_digits";
  Options options;
  Checkpoints checkpoints;
  lab::Program program(
      {.name = name,
       .description = "Trains a vision transformer on 1,797 digits, with any norm and placement",
       .exit_codes = "Exit code: 0; 2 for bad usage or bad input; 3 if the training\ndiverged.",
       .threads = "slices of a batch computed at a time; the output does not depend on it"},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096;
  o.add("--norm", options.norm, lab::OneOf{nn::norms().names()}, "the norm");
  o.add("--placement", options.placement, lab::OneOf{nn::placements().names()}, "its placement");
  o.add("--layers", options.layers, lab::Whole{1, kMostLayers}, "blocks");
  o.add("--width", options.width, lab::Whole{1, kMostWidth},
        "width d of a token; a multiple of the 4 heads");
  add_training_options(o, options.training, "images");
  add_checkpoint_options(o, checkpoints);
  const auto check = [&] {
    if (checkpoints.resume.empty()) return;
    take_options(o, read_resumed(o, checkpoints, name), checkpoints, name);
  };
  return program.run(check, [&](const lab::Run& run) {
    const TrainingTask task = digits_task(options, load_digits());
    return results(options, train(task, options.training, checkpoints, run));
  });
}

}  // namespace normlab::train_digits
