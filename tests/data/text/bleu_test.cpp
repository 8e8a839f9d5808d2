#include "data/text/bleu.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "data/text/bleu_tokenizer.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Sentences = std::vector<std::string>;

double sentence_score(const std::string& hypothesis, const std::string& reference,
                      const BleuOptions& options = {.tokenization = BleuTokenization::none}) {
  return corpus_bleu({hypothesis}, {{reference}}, options).score;
}

void check_near(double got, double expected, double tolerance) {
  CHECK_MESSAGE(std::abs(got - expected) <= tolerance * std::abs(expected), got, " is not ",
                expected);
}

constexpr double kRounding = 1e-14;

}  // namespace

TEST_CASE("bleu: five words, one of them wrong, by hand") {
  // 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples: the product is 1/5.
  const Bleu bleu = corpus_bleu({"the old lamp burns low"}, {{"the old lamp burns bright"}});
  CHECK(bleu.counts.matches == std::array<std::int64_t, 4>{4, 3, 2, 1});
  CHECK(bleu.counts.totals == std::array<std::int64_t, 4>{5, 4, 3, 2});
  CHECK(bleu.counts.sys_len == 5);
  CHECK(bleu.counts.ref_len == 5);
  CHECK(bleu.brevity_penalty == 1.0);
  check_near(bleu.precisions[0], 80.0, kRounding);
  check_near(bleu.precisions[3], 50.0, kRounding);
  check_near(bleu.score, 100.0 * std::pow(0.2, 0.25), kRounding);
}

TEST_CASE("bleu: the count of an n-gram is clipped to its largest count in any one reference") {
  const Sentences hypothesis{"a a a a b"};
  const Bleu one = corpus_bleu(hypothesis, {{"a c a b d"}});
  CHECK(one.counts.matches == std::array<std::int64_t, 4>{3, 1, 0, 0});  // a a b; a b
  // Another reference with three a: the largest count, not the sum.
  const Bleu two = corpus_bleu(hypothesis, {{"a c a b d"}, {"a a a e f"}});
  CHECK(two.counts.matches == std::array<std::int64_t, 4>{4, 3, 1, 0});  // a a a b; aa aa ab; aaa
}

TEST_CASE("bleu: output shorter than the closest reference is penalized, longer output is not") {
  check_near(sentence_score("a b c d", "a b c d e"), 100.0 * std::exp(1.0 - 5.0 / 4.0), kRounding);
  CHECK(corpus_bleu({"a b c d e"}, {{"a b c d"}}).brevity_penalty == 1.0);

  const auto ref_len = [](const Sentences& references) {
    std::vector<Sentences> lists;
    for (const std::string& reference : references) lists.push_back({reference});
    return corpus_bleu({"a b c d e"}, lists).counts.ref_len;
  };
  CHECK(ref_len({"a b", "a b c d e f", "a b c d e f g"}) == 6);
  CHECK(ref_len({"a b c d e f g", "a b c"}) == 3);  // both differ by two words: the shorter one
  CHECK(ref_len({"a b c", "a b c d e f g"}) == 3);
}

TEST_CASE("bleu: counts are summed over the corpus before they are divided") {
  // Alone the second sentence would score 0: none of its pairs is in the reference.
  const Bleu bleu = corpus_bleu({"a b c d", "e f"}, {{"a b c d", "f e"}});
  CHECK(bleu.counts.matches == std::array<std::int64_t, 4>{6, 3, 2, 1});
  CHECK(bleu.counts.totals == std::array<std::int64_t, 4>{6, 4, 2, 1});
  check_near(bleu.score, 100.0 * std::pow(0.75, 0.25), kRounding);
}

TEST_CASE("bleu: equal sentences give 100, and exact_match counts them") {
  const Sentences sentences{"twenty-seven thousand three hundred five", "one", "two hundred six"};
  CHECK(corpus_bleu(sentences, {sentences}).score == 100.0);
  CHECK(exact_match(sentences, sentences) == 1.0);
  CHECK(exact_match({"one", "two", "six", " ten"}, {"one", "six", "six", "ten"}) == 0.5);
  CHECK(exact_match({"a"}, {"A"}) == 0.0);
}

TEST_CASE("bleu: a sentence that is empty or shorter than four words scores 0 by itself") {
  const Bleu empty = corpus_bleu({""}, {{"a b c d"}});
  CHECK(empty.score == 0.0);
  CHECK(empty.brevity_penalty == 0.0);
  CHECK(empty.counts.sys_len == 0);
  CHECK(sentence_score("a b c d", "") == 0.0);
  CHECK(sentence_score("a b c", "a b c") == 0.0);  // no quadruple
  CHECK(corpus_bleu({"a b c", ""}, {{"a b c", "d"}}).precisions[2] == 100.0);
  const BleuOptions effective{.effective_order = true};
  CHECK(sentence_score("a b c", "a b c", effective) == 100.0);
  // In a corpus an empty sentence only shortens the output.
  check_near(corpus_bleu({"a b c d", ""}, {{"a b c d", "e f"}}).score,
             100.0 * std::exp(1.0 - 6.0 / 4.0), kRounding);
}

TEST_CASE("bleu: each smoothing by hand") {
  const BleuCounts counts{{3, 1, 0, 0}, {5, 4, 3, 2}, 5, 5};
  const auto score = [&](BleuSmoothing smoothing, std::optional<double> value = {}) {
    return bleu_from_counts(counts, {.smoothing = smoothing, .smoothing_value = value}).score;
  };
  const double first = 3.0 / 5 * 1 / 4;
  const auto mean = [](double product) { return 100.0 * std::pow(product, 0.25); };
  CHECK(score(BleuSmoothing::none) == 0.0);
  check_near(score(BleuSmoothing::exp), mean(first * (1.0 / 2 / 3) * (1.0 / 4 / 2)), kRounding);
  check_near(score(BleuSmoothing::floor), mean(first * (0.1 / 3) * (0.1 / 2)), kRounding);
  check_near(score(BleuSmoothing::floor, 0.3), mean(first * (0.3 / 3) * (0.3 / 2)), kRounding);
  check_near(score(BleuSmoothing::add_k), mean(3.0 / 5 * 2 / 5 * 1 / 4 * 1 / 3), kRounding);
  check_near(score(BleuSmoothing::add_k, 2), mean(3.0 / 5 * 3 / 6 * 2 / 5 * 2 / 4), kRounding);
}

// The sentences of this file are ours. Where the expected score is SacreBLEU's, its test has other
// words in the same pattern: BLEU depends only on which words are equal.

TEST_CASE("bleu: scores of counts as in SacreBLEU's tests") {
  // github.com/mjpost/sacrebleu, test/test_bleu.py, to an absolute error of 1e-8 on the scale 0
  // to 1.
  const auto score = [](const BleuCounts& counts, const BleuOptions& options = {}) {
    return bleu_from_counts(counts, options).score / 100.0;
  };
  CHECK(std::abs(score({{9, 7, 5, 3}, {10, 8, 6, 4}, 11, 11}) - 0.8375922397) < 1e-8);
  const auto floor = [](double value) {
    return BleuOptions{.smoothing = BleuSmoothing::floor, .smoothing_value = value};
  };
  CHECK(std::abs(score({{4, 2, 1, 0}, {6, 5, 4, 3}, 6, 8}, floor(0.1)) - 0.1555722182) < 1e-8);
  CHECK(score({{4, 2, 1, 0}, {6, 5, 4, 3}, 6, 8}, floor(0.0)) == 0.0);
  CHECK(score({{6, 5, 4, 0}, {6, 5, 4, 3}, 6, 6}, floor(0.0)) == 0.0);
  CHECK(score({{0, 0, 0, 0}, {10, 11, 12, 0}, 14, 10}, floor(0.0)) == 0.0);
  CHECK(score({{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0}, floor(0.1)) == 0.0);
  CHECK(score({{0, 0, 0, 0}, {0, 0, 0, 0}, 1, 5}, floor(0.01)) == 0.0);

  // The score line in its README for a system of WMT 17: 32.97, from precisions with one decimal.
  const BleuCounts wmt17{{661, 402, 266, 181}, {1000, 1000, 1000, 1000}, 63134, 64399};
  CHECK(std::abs(bleu_from_counts(wmt17).score - 32.97) < 0.05);
  CHECK(std::abs(bleu_from_counts(wmt17).brevity_penalty - 0.980) < 0.0005);
}

TEST_CASE("bleu: effective order as in SacreBLEU's tests") {
  // test/test_bleu.py: no tokenization, floor 0.01, scores to 1e-8 of 1.
  const BleuOptions options{.tokenization = BleuTokenization::none,
                            .smoothing = BleuSmoothing::floor,
                            .smoothing_value = 0.01,
                            .effective_order = true};
  const auto score = [&](const std::string& hypothesis, const std::string& reference) {
    return sentence_score(hypothesis, reference, options) / 100.0;
  };
  CHECK(std::abs(score("lamp", "one lamp") - 0.3678794411714425) < 1e-8);
  CHECK(std::abs(score("one lamp", "one lamp") - 1.0) < 1e-8);
  CHECK(std::abs(score("one old lamp", "one lamp") - 0.03218297948685433) < 1e-8);
  CHECK(std::abs(score("here stands one lamb", "here stands one lamp") - 0.223606797749979) < 1e-8);
}

TEST_CASE("bleu: a corpus with two references as in SacreBLEU's tests and README") {
  const Sentences hypotheses{"Every moth saw one lamp.", "They don't shine.",
                             "Every lamp often rarely met it."};
  const std::vector<Sentences> references{
      {"Every moth saw one lamp.", "They stayed quite calm.", "Every lamp saw it early."},
      {"Every moth often saw one lamp.", "Some men stayed glowing.",
       "Every lamp often met one moth."}};
  const auto score = [&](const BleuOptions& options) {
    return corpus_bleu(hypotheses, references, options).score;
  };
  // test/test_bleu.py: precisions 14/17, 7/14, 5/11 and 3/8, brevity penalty exp(1 - 18/17).
  CHECK(std::abs(score({}) - 48.530827) < 5e-7);
  CHECK(std::abs(score({.smoothing = BleuSmoothing::none}) - 48.530827) < 5e-7);
  CHECK(std::abs(score({.tokenization = BleuTokenization::none}) - 49.1919566) < 5e-8);
  CHECK(corpus_bleu({"", "", ""}, references).score == 0.0);
  CHECK(corpus_bleu(hypotheses, references).str() ==
        "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
}

TEST_CASE("bleu: tokenizations and smoothings of one sentence as in SacreBLEU's tests") {
  // test/test_sentence_bleu.py, to 1e-3.
  struct Case {
    BleuTokenization tokenization;
    BleuSmoothing smoothing;
    std::optional<double> value;
    double score;
  };
  const std::vector<Case> cases{
      {BleuTokenization::v13a, BleuSmoothing::exp, {}, 8.493},
      {BleuTokenization::v13a, BleuSmoothing::none, {}, 0.0},
      {BleuTokenization::v13a, BleuSmoothing::floor, {}, 4.51688},
      {BleuTokenization::v13a, BleuSmoothing::floor, 0.5, 10.10},
      {BleuTokenization::v13a, BleuSmoothing::add_k, {}, 14.882},
      {BleuTokenization::v13a, BleuSmoothing::add_k, 2.0, 21.389},
      {BleuTokenization::none, BleuSmoothing::exp, {}, 7.347},
  };
  for (const Case& c : cases) {
    const BleuOptions options{c.tokenization, c.smoothing, c.value, /*effective_order=*/true};
    const double score =
        sentence_score("Bread of rye first will be sold in what one calls ryes weights;",
                       "loaves of rye here are weighed in rye weights;", options);
    CHECK_MESSAGE(std::abs(score - c.score) < 1e-3, score, " is not ", c.score);
  }
  // Without any match every smoothing scores 0.
  for (const BleuSmoothing smoothing :
       {BleuSmoothing::none, BleuSmoothing::floor, BleuSmoothing::add_k, BleuSmoothing::exp}) {
    CHECK(sentence_score("here is a lamp", "good night", {.smoothing = smoothing}) == 0.0);
  }
}

TEST_CASE("bleu: tokenization 13a, rule by rule") {
  // The results of SacreBLEU's regular expressions, applied in order.
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {".", "."},
      {"The moth, it seems, is asleep.", "The moth , it seems , is asleep ."},
      {"It isn't a well-known moth's wing", "It isn't a well-known moth's wing"},
      // Entities are replaced in a fixed order.
      {"&quot;Light&quot; &amp; dark &lt;b&gt;", "\" Light \" & dark < b >"},
      {"&amp;lt;", "<"},
      {"&lt;amp;", "< amp ;"},
      // Line ends and skipped parts.
      {"a<skipped>b", "ab"},
      {"wing-\nspan\nof 3", "wingspan of 3"},
      {"moth-\n", "moth-"},
      // Periods and commas stay attached only between digits.
      {"costs 1,234.56 or .5 or 5. or 3.x", "costs 1,234.56 or . 5 or 5 . or 3 . x"},
      {"1.2.3.", "1.2.3 ."},
      {"a..b ... ,,", "a . . b . . . , ,"},
      {"x.1,y 1.,2", "x . 1 , y 1 . , 2"},
      {"$3.50", "$ 3.50"},
      // A hyphen is separated from a digit before it, not from one after it.
      {"1914-1918, A-4, 5-", "1914 - 1918 , A-4 , 5 -"},
      // All other ASCII punctuation.
      {"!#$%(x)*+/:;<=>?@[y]\\^_`{z|}~\"",
       "! # $ % ( x ) * + / : ; < = > ? @ [ y ] \\ ^ _ ` { z | } ~ \""},
      // Letters outside ASCII, and Unicode's white space: no-break, thin, ideographic; next line.
      {"flügel.über, été", "flügel . über , été"},
      {"a\u00A0b\u2009c\u3000d", "a b c d"},
      {"\x1C"
       "file\u0085next\x1F",
       "file next"},
      {"  two  spaces\t", "two spaces"},
  };
  for (const auto& [sentence, tokens] : cases) CHECK(tokenize_13a(sentence) == tokens);
  CHECK(tokenize_none("  The moth,\u00A0it\tseems. ") == "The moth, it seems.");
  // Not white space, though the first byte is the same: zero-width space, euro sign, dash.
  CHECK(tokenize_none("a\u200B\u20AC\u2013\u00A1") == "a\u200B\u20AC\u2013\u00A1");
}

TEST_CASE("bleu: no word in common gives 0, though other programs smooth it to 50") {
  const BleuOptions effective{.effective_order = true};
  for (const auto& [case_hypothesis, reference] :
       {std::pair("yes", "no"), std::pair("", "a b"), std::pair("", "")}) {
    const auto& hypothesis = case_hypothesis;
    CAPTURE(hypothesis);
    CHECK(corpus_bleu({hypothesis}, {{reference}}).score == 0.0);
    CHECK(sentence_score(hypothesis, reference, effective) == 0.0);
  }
}

TEST_CASE("bleu: lengths are those of the whole corpus, not of its first sentence") {
  const Bleu bleu = corpus_bleu({"a", "b c"}, {{"a", "b c d"}});
  CHECK(bleu.counts.sys_len == 3);
  CHECK(bleu.counts.ref_len == 4);
}

TEST_CASE("bleu: 13a cuts the angle brackets of a model's unknown token, as SacreBLEU does") {
  CHECK(tokenize_13a("new <UNK>.") == "new < UNK > .");
  CHECK(tokenize_13a("new <<UNK>>.") == "new < < UNK > > .");
  // SacreBLEU's score in fairseq's issue 1827, with other words.
  check_near(sentence_score("one lamp is new <UNK>.", "one lamp is new <<UNK>>.",
                            {.tokenization = BleuTokenization::v13a}),
             55.96526475152516, kRounding);
}

TEST_CASE("bleu: the signature names the settings of the score") {
  // The first signature is in SacreBLEU's README, with a version.
  CHECK(bleu_signature(2) == "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp");
  CHECK(bleu_signature(1, {BleuTokenization::none, BleuSmoothing::floor, {}, true}) ==
        "nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.10]");
  CHECK(bleu_signature(1, {.smoothing = BleuSmoothing::add_k, .smoothing_value = 2.0}) ==
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-k[2.00]");
  CHECK(bleu_signature(1, {.smoothing = BleuSmoothing::none}) ==
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:none");
}

TEST_CASE("bleu: lists of different lengths are refused") {
  check_refused(
      [] {
        corpus_bleu({"a", "b"}, {{"a", "b"}, {"a"}});
      },
      "[corpus_bleu] references: must each hold 2 sentences, one for each hypothesis, got "
      "1");
  check_refused([] { corpus_bleu({"a"}, {}); }, "[corpus_bleu] references: must hold a list");
  check_refused([] { corpus_bleu({}, {{}}); }, "[corpus_bleu] hypotheses: must hold a sentence");
  check_refused([] { exact_match({"a"}, {}); }, "[exact_match] references: must be as many");
  check_refused([] { exact_match({}, {}); }, "[exact_match] references: must be as many");
}
