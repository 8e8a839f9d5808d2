// The command line of train_translation.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_program.hpp"
#include "experiments/lab/training/training_report.hpp"
#include "experiments/tasks/translation_task.hpp"
#include "experiments/train_translation/train_translation.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "train_translation";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMost = 100'000'000;
constexpr std::size_t kShown = 3;  // translations

struct CommandLine {
  TrainTranslationOptions options;  // but for what `run` holds
  TextFiles files;
  TrainingCommandLine run;
};

void define_text(CLI::App& app, CommandLine& line) {
  TrainTranslationOptions& options = line.options;
  command_line::add_choice(app, "--text", options.text, "what is translated, German to English",
                           translation_text_names());
  command_line::add_whole_number(app, "--examples", options.examples, 2, kMost,
                                 "sentences of it that are made");
  app.add_option("--source", line.files.source, "translate this file instead, a sentence a line,")
      ->check(command_line::a_path());
  app.add_option("--target", line.files.target, "whose translations are the lines of this one")
      ->check(command_line::a_path());
  command_line::add_choice(app, "--tokens", options.tokens, "what a sentence is cut into",
                           token_names());
  command_line::add_whole_number(app, "--merges", options.merges, 0, kMost,
                                 "subwords learned, for each language");
}

void define_model(CLI::App& app, CommandLine& line) {
  TrainTranslationOptions& options = line.options;
  command_line::add_choice(app, "--norm", options.norm, "the norm", nn::norms().names());
  command_line::add_placement(app, options.placement, "its placement",
                              {name(Placement::post), name(Placement::pre)});
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers,
                                 "blocks, of encoder and decoder each");
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token; a multiple of the 4 heads");
  command_line::add_choice(app, "--tied", options.tied, "embeddings that the head shares",
                           tied_names());
  app.add_option("--label-smoothing", options.label_smoothing, "of the training loss, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_whole_number(app, "--beam", options.beam, 1, 1000,
                                 "width of the search when the model is tested");
}

void check_files(const CLI::App& app, CommandLine& line) {
  const bool source = !line.files.source.empty(), target = !line.files.target.empty();
  check(source == target, kProgram, source ? "--target" : "--source",
        "must be given with the other file of the pair", "none");
  if (!source) return;
  for (const char* option : {"--text", "--examples"}) {
    check(app.count(option) == 0, kProgram, option, "must not be given with --source", "both");
  }
  line.options.text = "files";
  using File = std::pair<std::string, std::string>;
  for (const File& text :
       {File{"--source", line.files.source}, File{"--target", line.files.target}}) {
    check_different(kProgram, {text,
                               {"--checkpoint", line.run.checkpoint},
                               {"--json", line.run.outputs.json},
                               {"--report", line.run.outputs.report}});
  }
}

std::string title_of(const TrainTranslationOptions& options, const TranslationData& data) {
  return fmt::format(
      "{}: {} sentences to train on, {} to test\n"
      "{}: {} in the source's vocabulary, {} in the target's\n"
      "{}-norm ({}), {} + {} layers of width {}\n{}",
      options.text, data.train.text.size(), data.test.text.size(), options.tokens,
      data.source.size(), data.target.size(), name(options.placement), options.norm, options.layers,
      options.layers, options.width, title_of(options.training));
}

std::string text_of(const TranslationScore& score, const TranslationData& data) {
  std::string bleu = score.bleu.str();  // a line of up to 100 columns
  bleu.replace(bleu.find("(BP"), 0, "\n  ");
  std::string text = fmt::format("{}\n{}\nexact match {:.2f} % of {} sentences\n", bleu,
                                 bleu_signature(1), 100.0 * score.exact, score.translations.size());
  for (std::size_t i = 0; i < std::min(kShown, score.translations.size()); ++i) {
    const std::string& output = score.translations[i];
    text += fmt::format("  {}\n  -> {}\n", data.test.text.source[i],
                        output.empty() ? "(nothing)" : output);
  }
  return text;
}

nlohmann::ordered_json document_of(const TrainTranslationOptions& options,
                                   const TrainingResult& result,
                                   const std::optional<TranslationScore>& score) {
  nlohmann::ordered_json document = json_of(kProgram, json_of(options), result);
  document["bleu"] = nullptr;
  document["exact_match"] = nullptr;
  if (score) {
    document["bleu"] = score->bleu.score;
    document["bleu_signature"] = bleu_signature(1);
    document["exact_match"] = score->exact;
    document["translations"] = score->translations;
  }
  return document;
}

Report page_of(const TrainTranslationOptions& options, const TranslationData& data,
               const TrainingResult& result, const std::optional<TranslationScore>& score,
               const std::string& command) {
  std::vector<std::pair<std::string, std::string>> configuration{
      {"normlab", NORMLAB_VERSION},
      {"text", fmt::format("{}, {} + {} sentences", options.text, data.train.text.size(),
                           data.test.text.size())},
      {"tokens", options.tokens},
      {"norm", options.norm},
      {"placement", name(options.placement)},
      {"layers", fmt::format("{0} + {0}", options.layers)},
      {"width", std::to_string(options.width)},
      {"label smoothing", fmt::format("{:g}", options.label_smoothing)}};
  add_configuration(configuration, options.training);
  Report report = training_report("A transformer trained to translate", command, configuration,
                                  result, "token");
  if (score) {
    report.look_for.push_back(
        fmt::format("{}; exact match {:.2f} %", score->bleu.str(), 100.0 * score->exact));
    Table table{"Test sentences", {"source", "reference", "translation"}, {}};
    for (std::size_t i = 0; i < std::min<std::size_t>(20, score->translations.size()); ++i) {
      table.rows.push_back(
          {data.test.text.source[i], data.test.text.target[i], score->translations[i]});
    }
    report.tables.push_back(table);
  }
  return report;
}

// Of another text the weights would be those of other words, and the rest of the epoch others.
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

int run(const CLI::App& app, CommandLine line) {
  line.options.training = line.run.training;
  check_files(app, line);
  check_run(line.run);
  const std::optional<Safetensors> resume = read_resumed(line.run);
  if (resume) {
    const TrainTranslationOptions theirs = translation_options_in(*resume, line.run.resume);
    check_as_in_checkpoint(app, kProgram, json_of(line.options), json_of(theirs));
    check((theirs.text == "files") == (line.options.text == "files"), kProgram, "--source",
          "must be given again if the checkpoint's text came from files, and only then",
          line.files.source.empty() ? "none" : line.files.source);
    line.options = theirs;
    line.run.training = theirs.training;
  }
  check_options(line.options);
  const auto data = translation_data(line.options, line.files);
  const TrainingTask task = translation_task(line.options, data);
  if (resume) check_text(*resume, task, line.run.resume);
  std::optional<TranslationScore> score;
  const TrainingResult result =
      train(line.run, task, resume ? &*resume : nullptr, [&](Module& model) {
        score = score_of(dynamic_cast<TranslationTransformer&>(model), *data, line.options.beam);
      });
  if (!line.run.quiet) {
    command_line::print(kProgram, title_of(line.options, *data) + "\n" + text_of(result) +
                                      (score ? text_of(*score, *data) : ""));
  }
  write_outputs(
      line.run.outputs, [&] { return document_of(line.options, result, score).dump(1) + "\n"; },
      [&] { return page_of(line.options, *data, result, score, line.run.command); });
  return exit_code_of(kProgram, result);
}

}  // namespace

int train_translation_main(int argc, const char* const* argv) {
  CommandLine line;
  line.run.program = kProgram;
  line.run.training = line.options.training;
  line.run.schedule = name(line.options.training.schedule);
  line.run.command = command_text(
      kProgram, argc, argv,
      {"--source", "--target", "--checkpoint", "--resume", "--json", "--report", "--figures"});
  CLI::App app(
      "Trains an encoder-decoder to translate, with any norm, before or behind its\nbranches",
      kProgram);
  define_text(app, line);
  define_model(app, line);
  add_training_options(app, line.run, "sentences");
  add_run_options(app, line.run);
  return command_line::run(app, argc, argv, [&] { return run(app, line); });
}

}  // namespace normlab
