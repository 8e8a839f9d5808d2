#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/text/bleu.hpp"
#include "data/text/parallel_text.hpp"
#include "data/text/vocabulary.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/models/translation_transformer.hpp"

namespace normlab {

// A TranslationTransformer and how it is trained to translate. The defaults are the run of
// docs/training.md.
struct TrainTranslationOptions {
  std::string text = "numbers";     // or "dates", German to English; or "files"
  std::int64_t examples = 4000;     // generated sentences, for training and test
  std::string tokens = "subwords";  // or "characters"
  std::int64_t merges = 120;        // subwords: how many are learned, on each side
  std::string norm = "layernorm";
  Placement placement = Placement::pre;  // or post
  std::int64_t layers = 2, width = 64;   // blocks on each side
  std::string tied = "none";             // of tied_names()
  double label_smoothing = 0.1;          // of the training loss
  std::int64_t beam = 4;                 // 1: greedy
  TrainingOptions training{.dropout = 0.1,
                           .optimizer = "adam",
                           .lr = 2e-3,
                           .schedule = "inverse-sqrt",
                           .warmup = 200,
                           .epochs = 12,
                           .batch_size = 32,
                           .clip = 1.0,
                           .seed = 0};
};

std::vector<std::string> translation_text_names();  // but for files
std::vector<std::string> token_names();
std::vector<std::string> tied_names();

// Training and test sentences, no source sentence in both, as text and as numbers. A vocabulary
// knows the training sentences only.
struct TranslationData {
  using Sentences = TranslationTransformer::Sentences;
  struct Part {
    ParallelText text;
    Sentences source, target;  // without begin and end
  };
  Part train, test;
  Vocabulary source, target;  // alike if all embeddings are tied
};

// Two files of aligned sentences; empty where text is generated.
struct TextFiles {
  std::string source, target;
};
// Made or read, split nine to one the same way for every seed. Throws what data/ throws, and
// std::invalid_argument for a text with too few different sentences.
std::shared_ptr<const TranslationData> translation_data(const TrainTranslationOptions& options,
                                                        const TextFiles& files = {});

// Throws std::invalid_argument, naming `program`, for options that do not fit together. To be
// called before translation_data, which may take long.
void check_options(const TrainTranslationOptions& options,
                   const std::string& program = "train_translation");

// Throws what check_options throws.
TrainingTask translation_task(const TrainTranslationOptions& options,
                              std::shared_ptr<const TranslationData> data,
                              const std::string& program = "train_translation");

// What the trained model makes of the test sentences.
struct TranslationScore {
  std::vector<std::string> translations;
  Bleu bleu;         // 13a, as SacreBLEU's default
  double exact = 0;  // share that equals the reference
};
TranslationScore score_of(TranslationTransformer& model, const TranslationData& data,
                          std::int64_t beam);

// The options under their keys on the command line, as checkpoints keep them.
nlohmann::ordered_json json_of(const TrainTranslationOptions& options);

}  // namespace normlab
