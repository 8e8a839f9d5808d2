// Tested by tests/data/text/bleu_test.cpp.
#include "data/text/bleu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/text/bleu_tokenizer.hpp"

namespace normlab {

namespace {

// How often each n-gram occurs, at position n - 1. An n-gram is a view into the tokens' text.
using NgramCounts = std::array<std::unordered_map<std::string_view, std::int64_t>, kBleuOrder>;

struct Sentence {
  std::string text;  // the tokens, separated by one space
  std::vector<std::string_view> tokens;

  Sentence(const std::string& raw, BleuTokenization tokenization)
      : text(tokenization == BleuTokenization::v13a ? tokenize_13a(raw) : tokenize_none(raw)),
        tokens(split_white_space(text)) {}
  Sentence(const Sentence&) = delete;  // the tokens point into the text
  Sentence& operator=(const Sentence&) = delete;

  std::int64_t length() const { return std::ssize(tokens); }

  NgramCounts ngrams() const {
    NgramCounts counts;
    for (std::size_t n = 1; n <= kBleuOrder; ++n) {
      for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
        ++counts[n - 1][{tokens[i].begin(), tokens[i + n - 1].end()}];
      }
    }
    return counts;
  }
};

// Adds the counts of one sentence.
void count_sentence(const Sentence& hypothesis, const std::vector<std::string>& references,
                    BleuTokenization tokenization, BleuCounts& counts) {
  // If two references are equally close in length, the shorter one counts.
  const auto is_closer = [&](std::int64_t a, std::int64_t b) {
    const auto distance = [&](std::int64_t n) { return std::abs(n - hypothesis.length()); };
    return distance(a) != distance(b) ? distance(a) < distance(b) : a < b;
  };
  const NgramCounts ngrams = hypothesis.ngrams();
  NgramCounts found;  // the largest count in any one reference
  std::optional<std::int64_t> ref_len;
  for (const std::string& raw : references) {
    const Sentence reference(raw, tokenization);
    if (!ref_len || is_closer(reference.length(), *ref_len)) ref_len = reference.length();
    const NgramCounts reference_ngrams = reference.ngrams();
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      for (const auto& [ngram, count] : ngrams[n]) {
        const auto there = reference_ngrams[n].find(ngram);
        if (there == reference_ngrams[n].end()) continue;
        std::int64_t& most = found[n][ngram];
        most = std::max(most, there->second);
      }
    }
  }
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    for (const auto& [ngram, count] : found[n]) {
      counts.matches[n] += std::min(count, ngrams[n].at(ngram));
    }
    counts.totals[n] +=
        std::max<std::int64_t>(hypothesis.length() - static_cast<std::int64_t>(n), 0);
  }
  counts.sys_len += hypothesis.length();
  counts.ref_len += *ref_len;
}

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
}

double brevity_penalty(const BleuCounts& counts) {
  if (counts.sys_len >= counts.ref_len) return 1.0;
  if (counts.sys_len == 0) return 0.0;
  return std::exp(1.0 - static_cast<double>(counts.ref_len) / static_cast<double>(counts.sys_len));
}

}  // namespace

Bleu bleu_from_counts(const BleuCounts& counts, const BleuOptions& options) {
  Bleu bleu{.brevity_penalty = brevity_penalty(counts), .counts = counts};
  const auto is_zero = [](std::int64_t matches) { return matches == 0; };
  if (std::ranges::all_of(counts.matches, is_zero)) return bleu;

  const double value = smoothing_value(options);
  double exp_divisor = 1.0;
  std::size_t order = options.effective_order ? 0 : kBleuOrder;
  double log_sum = 0.0;
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    auto matches = static_cast<double>(counts.matches[n]);
    auto total = static_cast<double>(counts.totals[n]);
    if (options.smoothing == BleuSmoothing::add_k && n > 0) {
      matches += value;
      total += value;
    }
    if (total == 0.0) {  // and at all higher orders
      if (!options.effective_order) return bleu;
      break;
    }
    if (options.effective_order) order = n + 1;
    if (matches == 0.0 && options.smoothing == BleuSmoothing::exp) {
      exp_divisor *= 2.0;
      matches = 1.0 / exp_divisor;
    }
    if (matches == 0.0 && options.smoothing == BleuSmoothing::floor) matches = value;
    bleu.precisions[n] = 100.0 * matches / total;
    log_sum += std::log(matches / total);  // log(0) is -infinity, and exp of it is 0
  }
  bleu.score = 100.0 * bleu.brevity_penalty * std::exp(log_sum / static_cast<double>(order));
  return bleu;
}

Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options) {
  check(!hypotheses.empty(), "corpus_bleu", "hypotheses", "must hold a sentence", "none");
  check(!references.empty(), "corpus_bleu", "references", "must hold a list of sentences", "none");
  for (const std::vector<std::string>& list : references) {
    check(list.size() == hypotheses.size(), "corpus_bleu", "references",
          fmt::format("must each hold {} sentences, one for each hypothesis", hypotheses.size()),
          [&] { return std::to_string(list.size()); });
  }
  BleuCounts counts;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string> sentence_references;
    for (const std::vector<std::string>& list : references) sentence_references.push_back(list[i]);
    count_sentence(Sentence(hypotheses[i], options.tokenization), sentence_references,
                   options.tokenization, counts);
  }
  return bleu_from_counts(counts, options);
}

double Bleu::length_ratio() const {
  if (counts.ref_len == 0) return 0.0;
  return static_cast<double>(counts.sys_len) / static_cast<double>(counts.ref_len);
}

std::string Bleu::str() const {
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
      "ref_len = {})",
      score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty,
      length_ratio(), counts.sys_len, counts.ref_len);
}

std::string bleu_signature(std::int64_t reference_count, const BleuOptions& options) {
  std::string smoothing;
  switch (options.smoothing) {
    case BleuSmoothing::none:
      smoothing = "none";
      break;
    case BleuSmoothing::floor:
      smoothing = fmt::format("floor[{:.2f}]", smoothing_value(options));
      break;
    case BleuSmoothing::add_k:
      smoothing = fmt::format("add-k[{:.2f}]", smoothing_value(options));
      break;
    case BleuSmoothing::exp:
      smoothing = "exp";
      break;
  }
  return fmt::format("nrefs:{}|case:mixed|eff:{}|tok:{}|smooth:{}", reference_count,
                     options.effective_order ? "yes" : "no",
                     options.tokenization == BleuTokenization::v13a ? "13a" : "none", smoothing);
}

double exact_match(const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references) {
  check(!hypotheses.empty() && hypotheses.size() == references.size(), "exact_match", "references",
        fmt::format("must be as many as the {} hypotheses, and at least one", hypotheses.size()),
        [&] { return std::to_string(references.size()); });
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) equal += hypotheses[i] == references[i];
  return static_cast<double>(equal) / static_cast<double>(hypotheses.size());
}

}  // namespace normlab
