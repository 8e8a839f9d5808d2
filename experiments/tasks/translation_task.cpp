// Tested by tests/experiments/train_translation/train_translation_test.cpp.
#include "experiments/tasks/translation_task.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/ops/cross_entropy.hpp"
#include "data/text/number_names.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "nn/models/translation_decoding.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;
using Sentences = TranslationData::Sentences;
using Tied = TranslationTransformer::TiedEmbeddings;

constexpr const char* kProgram = "train_translation";
constexpr const char* kOptionsKey = "normlab.train_translation";  // in the metadata
constexpr double kTrainShare = 0.9;
constexpr std::uint64_t kTextSeed = 0;
constexpr std::int64_t kHeads = 4;            // they divide the width; the ffn is twice as wide
constexpr std::int64_t kSearchedAtOnce = 64;  // sentences

const std::vector<std::pair<std::string, Tied>>& ties() {
  static const std::vector<std::pair<std::string, Tied>> all{
      {"none", Tied::none}, {"output", Tied::output}, {"all", Tied::all}};
  return all;
}

Tied tied_of(const std::string& program, const std::string& name) {
  for (const auto& [key, tied] : ties()) {
    if (key == name) return tied;
  }
  fail(program, "--tied", fmt::format("must be one of {}", fmt::join(tied_names(), ", ")), name);
}

ParallelText text_of(const TrainTranslationOptions& options, const TextFiles& files,
                     Generator& generator) {
  if (!files.source.empty()) return read_parallel_text(files.source, files.target);
  if (options.text == "dates") return date_pairs(options.examples, generator);
  return number_pairs(options.examples, kLargestNamedNumber, generator);
}

Vocabulary vocabulary_of(const TrainTranslationOptions& options,
                         const std::vector<std::string>& sentences) {
  return options.tokens == "characters" ? Vocabulary::characters(sentences)
                                        : Vocabulary::subwords(sentences, options.merges);
}

Sentences encoded(const Vocabulary& vocabulary, const std::vector<std::string>& sentences) {
  Sentences all;
  for (const std::string& sentence : sentences) all.push_back(vocabulary.encode(sentence));
  return all;
}

TrainingTask::Set set_of(const TranslationData::Part& part) {
  TrainingTask::Set set;
  for (std::size_t i = 0; i < part.source.size(); ++i) {
    const std::int64_t target = std::ssize(part.target[i]) + 1;  // with its end
    set.predictions.push_back(target);
    set.tokens.push_back(std::ssize(part.source[i]) + target);
  }
  return set;
}

TranslationTransformer::Options model_options(const TrainTranslationOptions& options,
                                              const TranslationData& data,
                                              const std::string& program) {
  return {.source_vocabulary = data.source.size(),
          .target_vocabulary = data.target.size(),
          .layers = options.layers,
          .d_model = options.width,
          .nhead = kHeads,
          .dim_feedforward = 2 * options.width,
          .norm = options.norm,
          .placement = options.placement,
          .dropout = options.training.dropout,
          .tied = tied_of(program, options.tied),
          .padding = Vocabulary::kPad};
}

// Sentences of a batch: what the decoder reads begins with the begin token, and what it is asked
// for, token by token, ends with the end token. Padded with kPad, which counts for nothing.
struct Batch {
  Sentences source, read;
  std::vector<std::int64_t> asked;  // one sentence after the other
};

Batch batch_of(const TranslationData::Part& part, const std::vector<std::int64_t>& positions) {
  Batch batch;
  Sentences asked;
  for (const std::int64_t position : positions) {
    const auto i = static_cast<std::size_t>(position);
    batch.source.push_back(part.source[i]);
    batch.read.push_back(part.target[i]);
    batch.read.back().insert(batch.read.back().begin(), Vocabulary::kBegin);
    asked.push_back(part.target[i]);
    asked.back().push_back(Vocabulary::kEnd);
  }
  batch.asked = padded("target", asked, Vocabulary::kPad).tokens;
  return batch;
}

// Of the tokens that the decoder is asked for.
double chance_loss(const TranslationData& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.target.size()), 0);
  for (const std::vector<std::int64_t>& sentence : data.train.target) {
    for (const std::int64_t token : sentence) ++counts[static_cast<std::size_t>(token)];
    ++counts[Vocabulary::kEnd];
  }
  return entropy(counts);
}

// Twice as long as any sentence that it learned to write.
std::int64_t longest_output(const TranslationData& data) {
  std::int64_t longest = 0;
  for (const auto& sentence : data.train.target) longest = std::max(longest, std::ssize(sentence));
  return 2 * longest + 1;  // with its end
}

}  // namespace

std::vector<std::string> translation_text_names() { return {"numbers", "dates"}; }
std::vector<std::string> token_names() { return {"characters", "subwords"}; }
std::vector<std::string> tied_names() {
  std::vector<std::string> names;
  for (const auto& [name, tied] : ties()) names.push_back(name);
  return names;
}

std::shared_ptr<const TranslationData> translation_data(const TrainTranslationOptions& options,
                                                        const TextFiles& files) {
  Generator generator(kTextSeed);
  const ParallelText text = text_of(options, files, generator);
  ParallelSplit parts = split(text, kTrainShare, generator);
  check(parts.train.size() >= 1 && parts.test.size() >= 1, kProgram,
        files.source.empty() ? "--examples" : "--source",
        "must have enough different sentences to train and to test on",
        [&] { return fmt::format("{} sentences", text.size()); });
  std::vector<std::string> source = parts.train.source, target = parts.train.target;
  if (options.tied == "all") {
    source.insert(source.end(), target.begin(), target.end());
    target = source;
  }
  TranslationData data{{}, {}, vocabulary_of(options, source), vocabulary_of(options, target)};
  const auto part_of = [&](const ParallelText& sentences) {
    return TranslationData::Part{sentences, encoded(data.source, sentences.source),
                                 encoded(data.target, sentences.target)};
  };
  data.train = part_of(parts.train);
  data.test = part_of(parts.test);
  return std::make_shared<const TranslationData>(std::move(data));
}

void check_options(const TrainTranslationOptions& options, const std::string& program) {
  if (options.text != "files") {
    const std::int64_t available = options.text == "dates" ? date_count() : kLargestNamedNumber + 1;
    check(options.examples >= 2 && options.examples <= available, program, "--examples",
          fmt::format("must be from 2 to {}, as many {} as there are", available, options.text),
          std::to_string(options.examples));
  }
  check(options.width >= 1 && options.width % kHeads == 0, program, "--width",
        "must be a multiple of the 4 heads", std::to_string(options.width));
  check_probability(program, "--label-smoothing", options.label_smoothing);
  check(options.placement == Placement::post || options.placement == Placement::pre, program,
        "--placement", "must be post or pre for a decoder", name(options.placement));
  check(options.beam >= 1, program, "--beam", "must be at least 1", std::to_string(options.beam));
  check_probability(program, "--dropout", options.training.dropout);
  tied_of(program, options.tied);
}

TrainingTask translation_task(const TrainTranslationOptions& options,
                              std::shared_ptr<const TranslationData> data,
                              const std::string& program) {
  check_options(options, program);
  TrainingTask task;
  task.program = program;
  task.train = set_of(data->train);
  task.test = set_of(data->test);
  task.make_model = [model = model_options(options, *data, program)](Generator& weights) {
    return std::make_unique<TranslationTransformer>(model, weights);
  };
  const double smoothing = options.label_smoothing;
  task.pass = [data, smoothing](Module& model, Tape& tape, TrainingTask::Part part,
                                const std::vector<std::int64_t>& positions) -> TrainingTask::Pass {
    const bool training = part == TrainingTask::Part::train;
    const Batch batch = batch_of(training ? data->train : data->test, positions);
    const Var logits =
        dynamic_cast<TranslationTransformer&>(model).forward(tape, batch.source, batch.read);
    const Var loss = cross_entropy(logits, batch.asked,
                                   {.reduction = Reduction::sum,
                                    .label_smoothing = training ? smoothing : 0.0,
                                    .ignore_index = Vocabulary::kPad});
    return {loss, count_right(logits.value(), batch.asked, Vocabulary::kPad)};
  };
  task.outcomes = data->target.size();
  task.chance_loss = chance_loss(*data);
  task.metadata = {{kOptionsKey, json_of(options).dump()},
                   {"normlab.text", fmt::format("{:016x} {:016x}", fingerprint(data->train.text),
                                                fingerprint(data->test.text))},
                   {"normlab.source_vocabulary", data->source.save()},
                   {"normlab.target_vocabulary", data->target.save()}};
  return task;
}

TranslationScore score_of(TranslationTransformer& model, const TranslationData& data,
                          std::int64_t beam) {
  const Sentences& sources = data.test.source;
  const SearchOptions search{.beam_size = beam,
                             .max_length = longest_output(data),
                             .begin = Vocabulary::kBegin,
                             .end = Vocabulary::kEnd,
                             .length_penalty = 0.6};
  TranslationScore score;
  for (std::size_t first = 0; first < sources.size(); first += kSearchedAtOnce) {
    const std::size_t last = std::min(sources.size(), first + kSearchedAtOnce);
    const Sentences some(sources.begin() + static_cast<std::ptrdiff_t>(first),
                         sources.begin() + static_cast<std::ptrdiff_t>(last));
    const Sentences found =
        beam == 1 ? greedy_decode(model, some, search) : beam_decode(model, some, search);
    for (const auto& tokens : found) score.translations.push_back(data.target.decode(tokens));
  }
  score.bleu = corpus_bleu(score.translations, {data.test.text.target});
  score.exact = exact_match(score.translations, data.test.text.target);
  return score;
}

Json json_of(const TrainTranslationOptions& options) {
  Json json = {{"text", options.text},     {"examples", options.examples},
               {"tokens", options.tokens}, {"merges", options.merges},
               {"norm", options.norm},     {"placement", name(options.placement)},
               {"layers", options.layers}, {"width", options.width},
               {"tied", options.tied},     {"label_smoothing", options.label_smoothing},
               {"beam", options.beam}};
  json.update(json_of(options.training));
  return json;
}

}  // namespace normlab
