#include "data/text/vocabulary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "core/random.hpp"
#include "data/text/parallel_text.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Tokens = std::vector<std::int64_t>;
using StringPairs = std::vector<std::pair<std::string, std::string>>;

StringPairs saved_merges(const Vocabulary& vocabulary) {
  return nlohmann::json::parse(vocabulary.save()).at("merges").get<StringPairs>();
}

struct Learned {
  StringPairs merges;
  std::vector<std::vector<std::string>> words;  // as symbols, after all merges
};

// Byte pair encoding as it is defined: all pairs are counted again for every merge.
Learned learn_plainly(const std::vector<std::string>& sentences, std::size_t merges) {
  std::vector<std::vector<std::string>> words;
  std::set<std::string> characters{" "};
  for (const std::string& sentence : sentences) {
    for (const char c : " " + sentence) {
      if (c == ' ') words.emplace_back();
      words.back().emplace_back(1, c);
      characters.emplace(1, c);
    }
  }
  std::vector<std::string> symbols(characters.begin(), characters.end());
  const auto number = [&](const std::string& symbol) {
    return std::ranges::find(symbols, symbol) - symbols.begin();
  };
  StringPairs learned;
  while (learned.size() < merges) {
    std::map<std::pair<std::ptrdiff_t, std::ptrdiff_t>, int> counts;
    for (const auto& word : words) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        ++counts[{number(word[i]), number(word[i + 1])}];
      }
    }
    // The first of the most frequent pairs, in the order of the symbols.
    const auto best = std::ranges::max_element(
        counts, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    const std::string left = symbols[static_cast<std::size_t>(best->first.first)];
    const std::string right = symbols[static_cast<std::size_t>(best->first.second)];
    learned.emplace_back(left, right);
    if (std::ranges::find(symbols, left + right) == symbols.end()) symbols.push_back(left + right);
    for (auto& word : words) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] != left || word[i + 1] != right) continue;
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return {learned, words};
}

std::vector<std::string> random_sentences(Generator& generator, std::string_view letters) {
  std::vector<std::string> sentences(12);
  for (std::string& sentence : sentences) {
    for (std::int64_t n = generator.randint(25); n > 0; --n) {
      sentence += letters[static_cast<std::size_t>(generator.randint(std::ssize(letters)))];
    }
  }
  return sentences;
}

void check_round_trip(const Vocabulary& vocabulary, const std::string& sentence) {
  const Tokens tokens = vocabulary.encode(sentence);
  if (vocabulary.decode(tokens) != sentence) FAIL_CHECK("'", sentence, "'");
  for (const std::int64_t token : tokens) {
    if (token <= Vocabulary::kUnknown || token >= vocabulary.size()) FAIL_CHECK(token);
  }
}

}  // namespace

TEST_CASE("Vocabulary: characters are numbered by code point, after the four special tokens") {
  const Vocabulary vocabulary = Vocabulary::characters({"ba", "ä b", "a"});
  CHECK(vocabulary.size() == 8);
  CHECK(vocabulary.encode(" abä") == Tokens{4, 5, 6, 7});
  CHECK(vocabulary.encode("") == Tokens{});
  CHECK(vocabulary.decode({7, 4, 5}) == "ä a");
  CHECK(vocabulary.token(Vocabulary::kPad) == "<pad>");
  CHECK(vocabulary.token(7) == "ä");
  for (const std::string sentence : {"", " ", "  a  b ", "bäbä"}) {
    check_round_trip(vocabulary, sentence);
  }
}

TEST_CASE("Vocabulary: subwords of a text small enough to do by hand") {
  // Words " ab" (twice), " abc", " bc". The pairs " a" and "ab" occur three times, and the space
  // comes before a; then " ab" occurs three times; then no pair occurs twice.
  const Vocabulary vocabulary = Vocabulary::subwords({"ab abc", "ab bc"}, 100);
  CHECK(saved_merges(vocabulary) == StringPairs{{" ", "a"}, {" a", "b"}});
  CHECK(vocabulary.size() == 4 + 4 + 2);
  CHECK(vocabulary.encode("ab abc") == Tokens{9, 9, 7});
  CHECK(vocabulary.encode("cab") == Tokens{4, 7, 5, 6});  // not at the start of a word
  CHECK(vocabulary.token(9) == " ab");
  CHECK(vocabulary.decode({9, 9, 7}) == "ab abc");
  CHECK(vocabulary.decode({6, 9, 7}) == "b abc");  // a model may leave out the first space

  CHECK(saved_merges(Vocabulary::subwords({"ab abc", "ab bc"}, 1)) == StringPairs{{" ", "a"}});
  CHECK(Vocabulary::subwords({"ab"}, 0).encode("b a") == Tokens{4, 6, 4, 5});
}

TEST_CASE("Vocabulary: subwords are those of the plain definition of byte pair encoding") {
  Generator generator(1);
  for (int text = 0; text < 40; ++text) {
    // Few letters, to get runs such as aaa.
    const std::vector<std::string> sentences =
        random_sentences(generator, text % 2 ? "aab " : "abc ");
    const Learned expected = learn_plainly(sentences, 40);
    REQUIRE(expected.merges.size() > 5);
    const Vocabulary vocabulary = Vocabulary::subwords(sentences, 40);
    CHECK(saved_merges(vocabulary) == expected.merges);

    // Each sentence is cut like its words at the end of learning.
    std::vector<std::string> cut, expected_cut;
    for (const std::string& sentence : sentences) {
      check_round_trip(vocabulary, sentence);
      for (const std::int64_t token : vocabulary.encode(sentence)) {
        cut.push_back(vocabulary.token(token));
      }
    }
    for (const auto& word : expected.words) {
      expected_cut.insert(expected_cut.end(), word.begin(), word.end());
    }
    CHECK(cut == expected_cut);
  }
}

TEST_CASE("Vocabulary: subwords shorten number names and keep every space") {
  Generator generator(0);
  const ParallelText text = number_pairs(300, 99'999, generator);
  const Vocabulary vocabulary = Vocabulary::subwords(text.target, 60);
  const Vocabulary letters = Vocabulary::characters(text.target);
  std::size_t subword_count = 0, letter_count = 0;
  for (const std::string& sentence : text.target) {
    check_round_trip(vocabulary, sentence);
    subword_count += vocabulary.encode(sentence).size();
    letter_count += letters.encode(sentence).size();
  }
  CHECK(4 * subword_count < letter_count);
  CHECK(vocabulary.token(vocabulary.encode("one thousand").back()) == " thousand");
  for (const std::string sentence : {"", " ", "  one", "one ", "two  one", " - "}) {
    check_round_trip(vocabulary, sentence);
  }
}

TEST_CASE(
    "Vocabulary: unknown characters become unknown, and special tokens are left out of text") {
  const Vocabulary letters = Vocabulary::characters({"abc"});
  CHECK(letters.encode("aZäc") == Tokens{4, 3, 3, 6});
  CHECK(letters.decode({1, 4, 3, 6, 2, 0, 0}) == "a\uFFFDc");
  // Text may contain the name of a special token.
  const std::string name = "<pad>";
  const Vocabulary subwords = Vocabulary::subwords({name, name, "-" + name, "-" + name}, 20);
  check_round_trip(subwords, name);
  CHECK(subwords.encode(name).size() == 1);
  CHECK(subwords.encode("?") == Tokens{4, 3});

  check_refused([&] { letters.encode("a\xFF"); },
                "[Vocabulary::encode] text: must be UTF-8, got byte 0xff at position 1");
  check_refused([&] { Vocabulary::characters({"\x80"}); }, "[Vocabulary] text: must be UTF-8");
  check_refused([&] { letters.decode({7}); }, "[Vocabulary] token: must lie in 0 .. 6, got 7");
  check_refused([&] { letters.decode({-1}); }, "[Vocabulary] token: must lie in 0 .. 6, got -1");
  check_refused([&] { Vocabulary::subwords({"a"}, -1); },
                "[Vocabulary::subwords] merges: must not");
}

TEST_CASE("Vocabulary: after saving and loading, encodes to the same numbers") {
  Generator generator(2);
  const ParallelText text = date_pairs(100, generator);
  for (const Vocabulary& vocabulary :
       {Vocabulary::characters(text.source), Vocabulary::subwords(text.source, 50)}) {
    const Vocabulary loaded = Vocabulary::load(vocabulary.save());
    CHECK(loaded.save() == vocabulary.save());
    REQUIRE(loaded.size() == vocabulary.size());
    for (std::int64_t i = 0; i < loaded.size(); ++i) CHECK(loaded.token(i) == vocabulary.token(i));
    for (const std::string& sentence : text.source) {
      if (loaded.encode(sentence) != vocabulary.encode(sentence)) FAIL_CHECK(sentence);
    }
  }
}

TEST_CASE("Vocabulary: the error for JSON that is not a saved vocabulary names the fault") {
  const auto refused = [](const std::string& json, const std::string& fault) {
    check_refused([&] { Vocabulary::load(json); }, "[Vocabulary::load] " + fault);
  };
  refused("{", "json: must be a saved vocabulary, got text that is not JSON from byte 2 on");
  refused("[]", "json: must be a saved vocabulary, got text that is not an object");
  refused("{}", "json: must be a saved vocabulary, got text that has no \"unit\"");
  refused(R"({"unit":"word","characters":[],"merges":[]})",
          "unit: must be character or subword, got \"word\"");
  refused(R"({"unit":"subword","characters":[1],"merges":[]})",
          "characters: must be an array of strings");
  refused(R"({"unit":"subword","characters":["ab"],"merges":[]})",
          "characters: must be different single");
  refused(R"({"unit":"subword","characters":["a","a"],"merges":[]})",
          "characters: must be different single");
  refused(R"({"unit":"subword","characters":[" "],"merges":3})", "merges: must be");
  refused(R"({"unit":"subword","characters":[" "],"merges":[[" "]]})", "merges: must be pairs");
  refused(R"({"unit":"subword","characters":[" "],"merges":[[" ","b"]]})",
          "merges: must join tokens that are defined before, got \"b\"");
  refused(R"({"unit":"character","characters":["a"],"merges":[["a","a"]]})",
          "merges: must be empty where the unit is character");
}

TEST_CASE("Vocabulary: subwords without the space that begins every word are refused") {
  check_refused(
      [] { Vocabulary::load(R"({"unit":"subword","characters":["a"],"merges":[["a","a"]]})"); },
      "[Vocabulary::load] characters: must contain the space, which begins every word, where the "
      "unit is subword, got 1 characters without it");
  CHECK(Vocabulary::load(R"({"unit":"character","characters":["a"],"merges":[]})").size() == 5);
}

TEST_CASE("Vocabulary: a key that is unknown or there twice is refused") {
  check_refused(
      [] {
        Vocabulary::load(R"({"unit":"subword","unit":"character","characters":[],"merges":[]})");
      },
      "[Vocabulary::load] json: must be a saved vocabulary, got text that has the key \"unit\" "
      "twice");
  check_refused(
      [] { Vocabulary::load(R"({"unit":"character","characters":[],"merges":[],"eps":1})"); },
      "[Vocabulary::load] json: must be a saved vocabulary, got text that has the unknown key "
      "\"eps\"");
}

TEST_CASE("Vocabulary: JSON nested 200,000 deep is refused instead of overflowing the stack") {
  const std::string open(200'000, '['), close(200'000, ']');
  for (const std::string& json :
       {open, open + close, R"({"unit":)" + open + close + "}",
        R"({"unit":"subword","characters":[" "],"merges":)" + open + close + "}"}) {
    check_refused([&] { Vocabulary::load(json); },
                  "[Vocabulary::load] json: must be a saved vocabulary, got text that is nested "
                  "more than 3 levels deep");
  }
}
