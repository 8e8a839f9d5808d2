#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/lab/program/options.hpp"
#include "experiments/lab/results/results.hpp"
#include "experiments/lab/training/training_program.hpp"
#include "experiments/tasks/translation_task.hpp"

namespace normlab::train_translation {

using Options = TrainTranslationOptions;

// The pair of --source and --target, in place of text that is generated. Throws
// std::invalid_argument if they do not go with the options that were given.
void use_files(const lab::Options& given, const TextFiles& files, Options& options);

// Goes on from the checkpoint of --resume, with its options.
void resume(lab::Options& given, const TextFiles& files, Checkpoints& checkpoints,
            Options& options);

struct Measured {
  std::shared_ptr<const TranslationData> data;
  TrainingResult trained;
  std::optional<TranslationScore> score;  // none after a divergence
};
Measured measure(const Options& options, const TextFiles& files, const Checkpoints& checkpoints,
                 const lab::Run& run);

lab::Results results(const Options& options, const Measured& measured);

// The program: 0; 2 for bad usage or bad input; 3 if the training diverged.
int main(int argc, const char* const* argv);

}  // namespace normlab::train_translation
