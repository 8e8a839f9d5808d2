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
// p_n is the part of the hypotheses' n-grams that is found in the references, over the whole
// corpus; an n-gram counts at most as often as the one reference has it that has it most often.
namespace normlab {

inline constexpr std::size_t kBleuOrder = 4;

enum class BleuTokenization { none, v13a };  // data/text/bleu_tokenizer.hpp

// What takes the place of a count of 0 (Chen and Cherry, WMT 2014).
enum class BleuSmoothing {
  none,   // nothing: the score is 0
  floor,  // a small number, 0.1 by default
  add_k,  // k more matches and n-grams at orders 2, 3, 4, whatever the counts; 1 by default
  exp,    // 1/2 for the first order without matches, 1/4 for the next, ...
};

struct BleuOptions {
  BleuTokenization tokenization = BleuTokenization::v13a;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value = std::nullopt;  // of floor and add_k
  // Averages over the orders that the hypotheses have n-grams of. For single sentences, which may
  // be shorter than four words; false gives them 0.
  bool effective_order = false;
};

// What a score is computed from, element n - 1 for n-grams.
struct BleuCounts {
  std::array<std::int64_t, kBleuOrder> matches{};
  std::array<std::int64_t, kBleuOrder> totals{};
  std::int64_t sys_len = 0;  // tokens of the hypotheses
  std::int64_t ref_len = 0;  // and of the references, for each sentence the one nearest in length
};

struct Bleu {
  double score = 0.0;  // 0 .. 100
  std::array<double, kBleuOrder>
      precisions{};              // smoothed, 0 .. 100; 0 where nothing matches at all
  double brevity_penalty = 0.0;  // 0 .. 1
  BleuCounts counts;

  // As SacreBLEU prints it: "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 ...)".
  std::string str() const;
};

// references[r][i] is the r-th reference of sentence i. Throws std::invalid_argument if a list of
// references does not have as many sentences as there are hypotheses, and if there is none.
Bleu corpus_bleu(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options = {});

Bleu bleu_from_counts(const BleuCounts& counts, const BleuOptions& options = {});

// What has to be said beside a score, in SacreBLEU's form without its version:
// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp".
std::string bleu_signature(std::int64_t reference_count, const BleuOptions& options = {});

// The part of the hypotheses, 0 .. 1, that equal their reference byte for byte.
double exact_match(const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references);

}  // namespace normlab
