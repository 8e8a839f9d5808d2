#include "nn/models/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/softmax.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kEnd = 2;

// A model whose next token depends on the last one: row t of the table is what follows token t.
NextLogProbabilities follows(const Tensor& table) {
  return [table](const std::vector<Prefix>& prefixes) {
    Tensor rows = Tensor::uninitialized({std::ssize(prefixes), table.width()});
    double* out = rows.mutable_data();
    for (const Prefix& prefix : prefixes) {
      out = std::copy_n(table.data() + prefix.tokens.back() * table.width(), table.width(), out);
    }
    return rows;
  };
}

// Peaked distributions, so that outputs of all lengths compete.
Tensor random_table(std::int64_t vocabulary, std::uint64_t seed) {
  Tape tape;
  Tensor scores = random({vocabulary, vocabulary}, seed);
  for (double& v : scores.mutable_values()) v *= 2.0;
  return log_softmax(tape.constant(scores)).value();
}

Tensor logs(Tensor probabilities) {
  for (double& v : probabilities.mutable_values()) v = std::log(v);
  return probabilities;
}

// All possible outputs, best first.
void extend(const Tensor& table, const SearchOptions& options, const Hypothesis& before,
            std::vector<Hypothesis>& all) {
  const std::int64_t last = before.tokens.empty() ? options.begin : before.tokens.back();
  for (std::int64_t token = 0; token < table.width(); ++token) {
    Hypothesis next = before;
    next.tokens.push_back(token);
    next.log_probability += table.at({last, token});
    const std::int64_t length = std::ssize(next.tokens);
    if (token == options.end || length == options.max_length) {
      const double penalty =
          std::pow((5.0 + static_cast<double>(length)) / 6.0, options.length_penalty);
      next.score = next.log_probability / penalty;
      all.push_back(next);
    } else {
      extend(table, options, next, all);
    }
  }
}

std::vector<Hypothesis> exhaustive(const Tensor& table, const SearchOptions& options) {
  std::vector<Hypothesis> all;
  extend(table, options, {}, all);
  std::ranges::stable_sort(all, std::greater<>{}, &Hypothesis::score);
  return all;
}

using Tokens = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("beam_search: a beam as wide as all outputs finds the best one there is") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const double alpha : {0.0, 0.6, 2.0}) {
      CAPTURE(seed);
      CAPTURE(alpha);
      const Tensor table = random_table(4, seed);
      const SearchOptions options{.beam_size = 256, .max_length = 4, .length_penalty = alpha};
      const Hypothesis best = exhaustive(table, options).front();
      const Hypothesis found = beam_search(follows(table), options).front();
      CHECK(found.tokens == best.tokens);
      CHECK(std::abs(found.log_probability - best.log_probability) <= 1e-14);
      CHECK(std::abs(found.score - best.score) <= 1e-14);
    }
  }
}

TEST_CASE(
    "beam_search: what a narrow beam finds is an output, scored right, and rarely the worst") {
  int best_found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Tensor table = random_table(5, seed);
    const SearchOptions options{.beam_size = 3, .max_length = 5, .length_penalty = 1.0};
    const std::vector<Hypothesis> all = exhaustive(table, options);
    const std::vector<Hypothesis> found = beam_search(follows(table), options);
    CHECK(std::ranges::is_sorted(found, std::greater<>{}, &Hypothesis::score));
    for (const Hypothesis& hypothesis : found) {
      const auto same = std::ranges::find(all, hypothesis.tokens, &Hypothesis::tokens);
      REQUIRE(same != all.end());
      CHECK(std::abs(hypothesis.score - same->score) <= 1e-14);
    }
    if (found.front().tokens == all.front().tokens) ++best_found;
  }
  CHECK(best_found >= 30);
}

TEST_CASE("beam_search: a beam of one is greedy search, whatever the length penalty") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const double alpha : {0.0, 1.5}) {
      CAPTURE(seed);
      const Tensor table = random_table(5, seed);
      const SearchOptions options{.beam_size = 1, .max_length = 6, .length_penalty = alpha};
      const std::vector<Hypothesis> beam = beam_search(follows(table), options);
      const Hypothesis greedy = greedy_search(follows(table), 1, options).front();
      REQUIRE(beam.size() == 1);
      CHECK(beam.front().tokens == greedy.tokens);
      CHECK(beam.front().log_probability == greedy.log_probability);
      CHECK(beam.front().score == greedy.score);
    }
  }
}

TEST_CASE("beam_search: two see what greed passes by") {
  // After the begin token: 3 with 0.6, 4 with 0.4. But 3 goes on three ways, and 4 ends.
  const Tensor table = logs(Tensor({5, 5}, {0,   0, 1,   0,   0,     // 0
                                            0,   0, 0,   0.6, 0.4,   // 1, the begin token
                                            0,   0, 1,   0,   0,     // 2, the end token
                                            0.3, 0, 0.4, 0.3, 0,     // 3
                                            0,   0, 0.9, 0.1, 0}));  // 4
  const Hypothesis greedy = greedy_search(follows(table), 1).front();
  CHECK(greedy.tokens == Tokens{3, kEnd});
  CHECK(std::abs(std::exp(greedy.log_probability) - 0.24) <= 1e-15);
  const Hypothesis beam = beam_search(follows(table), {.beam_size = 2}).front();
  CHECK(beam.tokens == Tokens{4, kEnd});
  CHECK(std::abs(std::exp(beam.log_probability) - 0.36) <= 1e-15);
}

TEST_CASE("beam_search: the length penalty is that of Wu et al., and decides for the longer") {
  CHECK(length_penalty(1, 0.7) == 1.0);
  CHECK(std::abs(length_penalty(7, 1.0) - 2.0) <= 1e-15);
  CHECK(length_penalty(30, 0.0) == 1.0);
  CHECK(std::abs(length_penalty(3, 0.6) - 1.18840) <= 5e-6);  // two words and the end token
  // End at once with 0.5, or after a 3 with 0.5 * 0.8.
  const Tensor table = logs(Tensor({4, 4}, {0, 0, 1, 0,      //
                                            0, 0, 0.5, 0.5,  //
                                            0, 0, 1, 0,      //
                                            0.2, 0, 0.8, 0}));
  const auto best = [&](double alpha) {
    return beam_search(follows(table), {.length_penalty = alpha}).front();
  };
  CHECK(best(0.0).tokens == Tokens{kEnd});
  // ln 0.4 / (7/6)^alpha exceeds ln 0.5 from alpha = 1.81 on.
  CHECK(best(1.7).tokens == Tokens{kEnd});
  CHECK(best(1.9).tokens == Tokens{3, kEnd});
  CHECK(std::abs(best(1.9).score - std::log(0.4) / std::pow(7.0 / 6.0, 1.9)) <= 1e-15);
}

TEST_CASE("beam_search: equal likelihoods go to the likelier beginning, then the lower token") {
  const Tensor even = logs(Tensor::full({6, 6}, 1.0 / 6.0));
  const std::vector<Hypothesis> found =
      beam_search(follows(even), {.beam_size = 2, .max_length = 2, .end = 5});
  REQUIRE(found.size() == 2);
  CHECK(found[0].tokens == Tokens{0, 0});
  CHECK(found[1].tokens == Tokens{0, 1});
  CHECK(greedy_search(follows(even), 1, {.max_length = 3, .end = 5}).front().tokens ==
        Tokens{0, 0, 0});
}

TEST_CASE("beam_search: nothing follows the end token, and nothing is longer than allowed") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchOptions options{.beam_size = 3, .max_length = 4};
    std::vector<Hypothesis> all = beam_search(follows(random_table(5, seed)), options);
    for (const Hypothesis& hypothesis : greedy_search(follows(random_table(5, seed)), 2, options)) {
      all.push_back(hypothesis);
    }
    for (const Hypothesis& hypothesis : all) {
      CHECK(std::ssize(hypothesis.tokens) <= 4);
      const auto end = std::ranges::find(hypothesis.tokens, kEnd);
      CHECK((end == hypothesis.tokens.end() ? std::ssize(hypothesis.tokens) == 4
                                            : end + 1 == hypothesis.tokens.end()));
    }
  }
  // A model that never ends.
  Tensor endless = Tensor::full({4, 4}, std::log(1.0 / 3.0));
  for (std::int64_t row = 0; row < 4; ++row) endless.mutable_data()[row * 4 + kEnd] = kNever;
  CHECK(beam_search(follows(endless), {.max_length = 3}).front().tokens == Tokens{0, 0, 0});
  CHECK(greedy_search(follows(endless), 1, {.max_length = 3}).front().tokens == Tokens{0, 0, 0});
}

TEST_CASE("beam_search: stops when no live output can win") {
  // The end is almost certain at once.
  const Tensor table = logs(Tensor({4, 4}, {0.97, 0.01, 0.01, 0.01,  //
                                            0.01, 0.01, 0.97, 0.01,  //
                                            0.97, 0.01, 0.01, 0.01,  //
                                            0.97, 0.01, 0.01, 0.01}));
  int calls = 0;
  const NextLogProbabilities model = follows(table);
  const auto counted = [&](const std::vector<Prefix>& prefixes) {
    ++calls;
    return model(prefixes);
  };
  CHECK(beam_search(counted, {.max_length = 50}).front().tokens == Tokens{kEnd});
  CHECK(calls == 1);
}

TEST_CASE(
    "greedy_search: sentences are independent, and finished ones are not passed to the model") {
  // Sentence s counts 3, 4, ... and ends after s tokens.
  std::vector<std::size_t> asked;
  const auto count_to = [&](const std::vector<Prefix>& prefixes) {
    asked.push_back(prefixes.size());
    Tensor rows = Tensor::full({std::ssize(prefixes), 8}, kNever);
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      const std::int64_t so_far = std::ssize(prefixes[i].tokens) - 1;
      const std::int64_t token = so_far == prefixes[i].sentence ? kEnd : 3 + so_far;
      rows.mutable_data()[static_cast<std::int64_t>(i) * 8 + token] = 0.0;
    }
    return rows;
  };
  const std::vector<Hypothesis> found = greedy_search(count_to, 3);
  CHECK(found[0].tokens == Tokens{kEnd});
  CHECK(found[1].tokens == Tokens{3, kEnd});
  CHECK(found[2].tokens == Tokens{3, 4, kEnd});
  CHECK(asked == std::vector<std::size_t>{3, 2, 1});
}

TEST_CASE("beam_search: options and functions that do not fit are refused, by both searches") {
  const Tensor even = logs(Tensor::full({4, 4}, 0.25));
  const auto refused = [](const NextLogProbabilities& next, const SearchOptions& options,
                          const std::string& message) {
    check_refused([&] { beam_search(next, options); }, "[beam_search] " + message);
    check_refused([&] { greedy_search(next, 1, options); }, "[greedy_search] " + message);
  };
  refused(follows(even), {.beam_size = 0}, "beam_size, max_length: must be at least 1, got 0, 64");
  refused(follows(even), {.max_length = 0}, "beam_size, max_length: must be at least 1, got 4, 0");
  refused(follows(even), {.length_penalty = -0.5}, "length_penalty");
  refused(follows(even), {.length_penalty = std::nan("")}, "length_penalty");
  refused(follows(even), {.end = 4}, "log-probabilities: must be (1, vocabulary) with the end");
  refused([](const auto&) { return Tensor::zeros({2, 4}); }, {}, "log-probabilities: must be (1, ");
  const auto all = [](double v) {
    return [v](const auto& prefixes) { return Tensor::full({std::ssize(prefixes), 4}, v); };
  };
  refused(all(std::nan("")), {}, "log-probabilities: must be 0 or less, got nan");
  refused(all(0.5), {}, "log-probabilities: must be 0 or less, got 0.5");
  refused(all(kNever), {}, "log-probabilities: must leave a token possible, got none");
  check_refused([&] { greedy_search(follows(even), 0); },
                "[greedy_search] sentences: must be at least 1, got 0");
}
