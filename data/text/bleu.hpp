#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// BLEU (Papineni et al., ACL 2002) as SacreBLEU computes it (Post, "A Call for Clarity in Reporting
// BLEU Scores", WMT 2018), case kept:
//
//   BLEU = 100 * bp * (p_1 p_2 p_3 p_4)^(1/4)        bp = min(1, exp(1 - ref_len / sys_len))
//
// p_n is the share of the hypotheses' n-grams that are found in the references, over the whole
// corpus. In each sentence the count of an n-gram is clipped to its largest count in any one
// reference.
namespace normlab {

inline constexpr std::size_t kBleuOrder = 4;

enum class BleuTokenization { none, v13a };  // data/text/bleu_tokenizer.hpp

// What replaces a count of 0 matches (Chen and Cherry, WMT 2014).
enum class BleuSmoothing {
  none,   // nothing: the score is 0
  floor,  // a small number, 0.1 by default
  add_k,  // adds k (1 by default) to matches and totals of orders 2, 3 and 4, whatever they are
  exp,    // 1/2 at the first order without matches, 1/4 at the next, and so on
};

struct BleuOptions {
  BleuTokenization tokenization = BleuTokenization::v13a;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value = std::nullopt;  // for floor and add_k
  // Averages only over the orders for which the hypotheses are long enough. Meant for single
  // sentences: without it, a sentence of fewer than four words scores 0.
  bool effective_order = false;
};

// What a score is computed from; element n - 1 counts n-grams.
struct BleuCounts {
  std::array<std::int64_t, kBleuOrder> matches{};
  std::array<std::int64_t, kBleuOrder> totals{};
  std::int64_t sys_len = 0;  // tokens of the hypotheses
  std::int64_t ref_len = 0;  // tokens of the reference closest in length, summed over sentences
};

struct Bleu {
  double score = 0.0;  // 0 to 100
  std::array<double, kBleuOrder>
      precisions{};              // smoothed, 0 to 100; all 0 if nothing matches at any order
  double brevity_penalty = 0.0;  // 0 to 1
  BleuCounts counts;

  double length_ratio() const;  // of the hypotheses to the references
  // As SacreBLEU prints it: "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 ...)".
  std::string str() const;
};

// references[r][i] is the r-th reference of hypotheses[i]. Throws std::invalid_argument if there is
// no hypothesis or no list of references, or if a list differs in length from the hypotheses.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options = {});

// The score of counts that were summed elsewhere, for instance over several corpora.
Bleu bleu_from_counts(const BleuCounts& counts, const BleuOptions& options = {});

// The settings that must be reported with a score, in SacreBLEU's form without its version, such as
// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp".
std::string bleu_signature(std::int64_t reference_count, const BleuOptions& options = {});

// The share of the hypotheses, 0 to 1, that equal their reference byte for byte. Throws
// std::invalid_argument if there is no hypothesis or if the lists differ in length.
double exact_match(const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references);

}  // namespace normlab
