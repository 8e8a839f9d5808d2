// An encoder-decoder, trained to translate German to English with any norm (docs/training.md).
//
//   train_translation --text dates --tokens characters --tied all
#include "experiments/lab/program/program.hpp"
#include "experiments/train_translation/train_translation.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::train_translation {

int main(int argc, const char* const* argv) {
  Options options;
  TextFiles files;
  Checkpoints checkpoints;
  lab::Program program(
      {.name = "train_translation",
       .description = "Trains an encoder-decoder to translate, with any norm, before or after its\n"
                      "residual branches",
       .exit_codes = "Exit code: 0; 2 for bad usage or bad input; 3 if the training\ndiverged.",
       .threads = "slices of a batch computed at a time; the output does not depend on it"},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 100'000'000;
  const lab::File read{lab::File::Use::read};
  o.add("--text", options.text, lab::OneOf{translation_text_names()}, "what is translated");
  o.add("--examples", options.examples, lab::Whole{2, kMost}, "sentences of it that are made");
  o.add("--source", files.source, read, "translate this file instead, a sentence a line,");
  o.add("--target", files.target, read, "whose translations are the lines of this one");
  o.add("--tokens", options.tokens, lab::OneOf{token_names()}, "what a sentence is cut into");
  o.add("--merges", options.merges, lab::Whole{0, kMost}, "subwords learned, for each language");
  o.add("--norm", options.norm, lab::OneOf{nn::norms().names()}, "the norm");
  o.add("--placement", options.placement, lab::OneOf{{name(Placement::post), name(Placement::pre)}},
        "its placement");
  o.add("--layers", options.layers, lab::Whole{1, kMostLayers},
        "blocks, as many in the encoder as in the decoder");
  o.add("--width", options.width, lab::Whole{1, kMostWidth},
        "width d of a token; a multiple of the 4 heads");
  o.add("--tied", options.tied, lab::OneOf{tied_names()}, "embeddings that the head shares");
  o.add("--label-smoothing", options.label_smoothing, lab::AtLeast{0.0},
        "of the training loss, from 0 to 1");
  o.add("--beam", options.beam, lab::Whole{1, 1000},
        "width of the search when the model is tested");
  add_training_options(o, options.training, "sentences");
  add_checkpoint_options(o, checkpoints);
  const auto check = [&] {
    use_files(o, files, options);
    if (!checkpoints.resume.empty()) resume(o, files, checkpoints, options);
    check_options(options);
  };
  return program.run(check, [&](const lab::Run& run) {
    return results(options, measure(options, files, checkpoints, run));
  });
}

}  // namespace normlab::train_translation
