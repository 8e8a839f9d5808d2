// The tables of train_translation. Tested by
// tests/experiments/train_translation/train_translation_test.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/lab/training/training_results.hpp"
#include "experiments/train_translation/train_translation.hpp"

namespace normlab::train_translation {

namespace {

using lab::Shown;

// One row, in JSON even if there is no score.
lab::Table score_table(const std::optional<TranslationScore>& score) {
  lab::Table table{
      .key = "score",
      .title = "Test sentences, " + bleu_signature(1),
      .columns = {
          {.key = "bleu", .title = "BLEU", .format = ".2f"},
          {.key = "precisions",
           .title = "precisions",
           .format = ".1f",
           .meaning = "percent of the words, pairs, triples and quadruples that the reference has"},
          {.key = "brevity_penalty", .title = "BP", .format = ".3f", .meaning = "brevity penalty"},
          {.key = "length_ratio", .title = "ratio", .format = ".3f"},
          {.key = "output_words", .title = "words"},
          {.key = "reference_words", .title = "reference"},
          {.key = "exact_match",
           .title = "exact %",
           .format = ".2%",
           .meaning = "sentences that equal their reference"},
          {.key = "sentences", .title = "sentences"}}};
  table.common = {{"bleu_signature", bleu_signature(1)}};
  if (!score) {
    table.rows.emplace_back(table.columns.size());
    table.shown = Shown::in_json;
    return table;
  }
  const Bleu& bleu = score->bleu;
  table.rows.push_back({bleu.score,
                        std::vector<double>(bleu.precisions.begin(), bleu.precisions.end()),
                        bleu.brevity_penalty, bleu.length_ratio(), bleu.counts.sys_len,
                        bleu.counts.ref_len, score->exact, std::ssize(score->translations)});
  return table;
}

// All translations for JSON, some of them for the page and a few for the text.
std::vector<lab::Table> translation_tables(const Measured& measured) {
  constexpr std::size_t kInText = 3, kOnPage = 20;
  const std::vector<std::string>& translations = measured.score->translations;
  const ParallelText& test = measured.data->test.text;
  const auto rows = [&](std::size_t first, std::size_t last, Shown shown) {
    lab::Table table{.key = "translations",
                     .title = "Translations",
                     .columns = {{.key = "source", .title = "source", .above_row = true},
                                 {"reference", "reference", "", "", Shown::on_page_and_in_json},
                                 {"translation", "translation"}},
                     .shown = shown};
    for (std::size_t i = first; i < std::min(last, translations.size()); ++i) {
      const bool empty = translations[i].empty() && shown == Shown::in_text;
      table.rows.push_back({test.source[i], test.target[i], empty ? "(nothing)" : translations[i]});
    }
    return table;
  };
  return {rows(0, kInText, Shown::in_text), rows(0, kOnPage, Shown::on_page_and_in_json),
          rows(kOnPage, translations.size(), Shown::in_json)};
}

}  // namespace

lab::Results results(const Options& options, const Measured& measured) {
  const TranslationData& data = *measured.data;
  lab::Results results{
      .title = "A transformer trained to translate",
      .heading = fmt::format("{}: {} sentences to train on, {} to test\n"
                             "{}: {} in the source's vocabulary, {} in the target's\n"
                             "{} ({}), {} + {} layers of width {}\n{}",
                             options.text, data.train.text.size(), data.test.text.size(),
                             options.tokens, data.source.size(), data.target.size(),
                             title(options.placement), options.norm, options.layers, options.layers,
                             options.width, training_text(options.training))};
  add_training(results, measured.trained, "token");
  results.tables.push_back(score_table(measured.score));
  if (measured.score) {
    for (lab::Table& table : translation_tables(measured)) results.tables.push_back(table);
  }
  return results;
}

}  // namespace normlab::train_translation
