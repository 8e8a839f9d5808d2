// Tested by tests/experiments/train_translation/train_translation_test.cpp.
#include "experiments/train_translation/train_translation.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab::train_translation {

namespace {

constexpr const char* kProgram = "train_translation";
const std::string kFiles = "files";  // the text of --source and --target

// With another text the weights would belong to other words, and the rest of the epoch to other
// sentences.
void check_text(const Safetensors& checkpoint, const TrainingTask& task,
                const std::string& source) {
  for (const char* key :
       {"normlab.text", "normlab.source_vocabulary", "normlab.target_vocabulary"}) {
    const auto found = checkpoint.metadata.find(key);
    if (found == checkpoint.metadata.end() || found->second != task.metadata.at(key)) {
      fail_file(kProgram, source, fmt::format("was trained on another text: {} differs", key),
                "resume with the text of that run, or train anew");
    }
  }
}

}  // namespace

void use_files(const lab::Options& given, const TextFiles& files, Options& options) {
  const bool source = !files.source.empty(), target = !files.target.empty();
  check(source == target, kProgram, source ? "--target" : "--source",
        "must be given with the other file of the pair", "none");
  if (!source) return;
  for (const char* option : {"--text", "--examples"}) {
    check(!given.given(option), kProgram, option, "must not be given with --source", "both");
  }
  options.text = kFiles;
}

void resume(lab::Options& given, const TextFiles& files, Checkpoints& checkpoints,
            Options& options) {
  std::map<std::string, std::string> theirs = read_resumed(given, checkpoints, kProgram);
  const bool from_files = theirs["text"] == kFiles;
  check(from_files == !files.source.empty(), kProgram, "--source",
        "must be given again if the checkpoint's text came from files, and only then",
        files.source.empty() ? "none" : files.source);
  if (from_files) theirs["text"] = Options().text;  // --text knows generated ones only
  take_options(given, theirs, checkpoints, kProgram);
  if (from_files) options.text = kFiles;
}

Measured measure(const Options& options, const TextFiles& files, const Checkpoints& checkpoints,
                 const lab::Run& run) {
  Measured measured{translation_data(options, files), {}, {}};
  const TrainingTask task = translation_task(options, measured.data);
  if (checkpoints.resumed) check_text(*checkpoints.resumed, task, checkpoints.resume);
  measured.trained = train(task, options.training, checkpoints, run, [&](Module& model) {
    measured.score =
        score_of(dynamic_cast<TranslationTransformer&>(model), *measured.data, options.beam);
  });
  return measured;
}

}  // namespace normlab::train_translation
