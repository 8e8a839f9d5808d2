#include "data/text/parallel_text.hpp"

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "data/text/number_names.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

TEST_CASE("number_pairs: different numbers, each with its own translation") {
  Generator generator(3);
  const ParallelText text = number_pairs(1000, 999, generator);  // all there are
  REQUIRE(text.size() == 1000);
  std::set<std::pair<std::string, std::string>> got, expected;
  for (std::size_t i = 0; i < 1000; ++i) got.emplace(text.source[i], text.target[i]);
  for (std::int64_t n = 0; n < 1000; ++n) expected.emplace(german_number(n), english_number(n));
  CHECK(got == expected);
  CHECK(text.source[0] + text.source[1] != "nulleins");  // in random order

  Generator again(3), other(4);
  CHECK(number_pairs(1000, 999, again).source == text.source);
  CHECK(number_pairs(1000, 999, other).source != text.source);
  Generator small(0);
  CHECK(number_pairs(1, 0, small).target == std::vector<std::string>{"zero"});
}

TEST_CASE("date_pairs: every day has its own sentence in both languages") {
  Generator generator(0);
  CHECK(date_count() == 365'243);
  const ParallelText text = date_pairs(30'000, generator);
  std::unordered_set<std::string_view> sources(text.source.begin(), text.source.end());
  std::unordered_set<std::string_view> targets(text.target.begin(), text.target.end());
  CHECK(sources.size() == 30'000);
  CHECK(targets.size() == 30'000);
  // Days come from the whole range, the first and the last year included.
  std::int64_t first = 0, last = 0;
  for (const std::string& source : text.source) {
    first += source.ends_with(" elfhundert");
    last += source.ends_with(" zweitausendneunundneunzig");
  }
  CHECK(first > 10);  // 30 are expected
  CHECK(last > 10);
}

TEST_CASE("number_pairs and date_pairs: asking for more sentences than there are is refused") {
  Generator generator(0);
  check_refused(
      [&] { number_pairs(12, 10, generator); },
      "[number_pairs] count: must lie in 1 .. 11, the number of different sentences, got 12");
  check_refused([&] { number_pairs(0, 10, generator); }, "[number_pairs] count: must lie in 1");
  check_refused([&] { number_pairs(1, 1'000'000, generator); },
                "[number_pairs] largest: must lie in 0 .. 999999, got 1000000");
  check_refused([&] { date_pairs(365'244, generator); },
                "[date_pairs] count: must lie in 1 .. 365243");
}

TEST_CASE("split: no source sentence is on both sides, even if it occurs several times") {
  ParallelText text;
  for (int i = 0; i < 300; ++i) {
    text.source.push_back(fmt::format("s{}", i * i % 97));  // 49 different ones
    text.target.push_back(fmt::format("t{}", i));
  }
  Generator generator(5);
  const ParallelSplit parts = split(text, 0.8, generator);
  CHECK(parts.train.size() + parts.test.size() == 300);
  const std::set<std::string> train(parts.train.source.begin(), parts.train.source.end());
  const std::set<std::string> test(parts.test.source.begin(), parts.test.source.end());
  CHECK(train.size() == 39);  // of 49 * 0.8 = 39.2
  CHECK(test.size() == 10);
  for (const std::string& sentence : test) CHECK_FALSE(train.contains(sentence));

  // Pairs stay together and in order.
  for (const ParallelText& part : {parts.train, parts.test}) {
    int previous = -1;
    for (std::size_t i = 0; i < part.source.size(); ++i) {
      const int line = std::stoi(part.target[i].substr(1));
      if (part.source[i] != text.source[static_cast<std::size_t>(line)]) FAIL_CHECK(line);
      if (line <= previous) FAIL_CHECK(line);
      previous = line;
    }
  }
}

TEST_CASE("split: depends on the seed, and fractions 0 and 1 leave one side empty") {
  Generator generator(0);
  const ParallelText text = number_pairs(100, 500, generator);
  Generator a(7), b(7), c(8), d(0);
  const ParallelSplit parts = split(text, 0.5, a);
  CHECK(parts.train.size() == 50);
  CHECK(split(text, 0.5, b).test.source == parts.test.source);
  CHECK(split(text, 0.5, c).test.source != parts.test.source);
  CHECK(split(text, 1.0, d).train.source == text.source);
  CHECK(split(text, 0.0, d).test.target == text.target);
  check_refused([&] { split(text, 1.5, d); },
                "[train_test_split] train_fraction: must be a probability");
  check_refused(
      [&] {
        split({{"a", "b"}, {"c"}}, 0.5, d);
      },
      "[split] text: must have as many targets as sources, got 2 and 1");
}

TEST_CASE("fingerprint: FNV-1a of the lines, sources and targets alternating") {
  // The first value was computed with another program.
  CHECK(fingerprint({{"eins", "zwei"}, {"one", "two"}}) == 0x907714eb472c50fd);
  CHECK(fingerprint({}) == 0xcbf29ce484222325);
  const auto differs = [](const ParallelText& text) {
    return fingerprint(text) != fingerprint({{"eins", "zwei"}, {"one", "two"}});
  };
  CHECK(differs({{"zwei", "eins"}, {"two", "one"}}));  // another order
  CHECK(differs({{"eins", "zwei"}, {"two", "one"}}));
  CHECK(differs({{"ein", "zwei"}, {"sone", "two"}}));  // the same letters, cut elsewhere
}
