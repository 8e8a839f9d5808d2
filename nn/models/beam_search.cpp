// Tested by tests/nn/models/beam_search_test.cpp.
#include "nn/models/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

void check_options(const char* op, const SearchOptions& options) {
  check(options.beam_size >= 1 && options.max_length >= 1, op, "beam_size, max_length",
        "must be at least 1",
        [&] { return fmt::format("{}, {}", options.beam_size, options.max_length); });
  // A negative one would let an output gain by growing, and the search could not stop early.
  check_at_least(op, "length_penalty", options.length_penalty, 0.0);
}

// What `next` returns, one row per prefix.
Tensor ask(const char* op, const NextLogProbabilities& next, const std::vector<Prefix>& prefixes,
           const SearchOptions& options) {
  Tensor table = next(prefixes);
  check(table.rank() == 2 && table.shape()[0] == std::ssize(prefixes) &&
            table.shape()[1] > options.end && options.end >= 0,
        op, "log-probabilities",
        fmt::format("must be ({}, vocabulary) with the end token {} in the vocabulary",
                    prefixes.size(), options.end),
        [&] { return table.shape().str(); });
  for (const double log_probability : table.values()) {
    check(log_probability <= 0.0, op, "log-probabilities", "must be 0 or less",
          [&] { return fmt::format("{}", log_probability); });
  }
  return table;
}

void check_possible(const char* op, bool possible) {
  check(possible, op, "log-probabilities", "must leave a token possible", "none");
}

// An output on its way, begin token included.
struct Live {
  std::vector<std::int64_t> tokens;
  double log_probability = 0.0;
};

Hypothesis finished(const Live& live, const SearchOptions& options) {
  Hypothesis result{{live.tokens.begin() + 1, live.tokens.end()}, live.log_probability};
  result.score =
      result.log_probability / length_penalty(std::ssize(result.tokens), options.length_penalty);
  return result;
}

struct Continuation {
  std::size_t parent;  // index of the live output that it continues
  std::int64_t token;
  double log_probability;  // of the longer output
};

// The likeliest continuations, at most `count`, in order. Live outputs are in that order, too.
std::vector<Continuation> best_continuations(const std::vector<Live>& live, const Tensor& table,
                                             std::int64_t count) {
  std::vector<Continuation> all;
  const double* row = table.data();
  for (std::size_t i = 0; i < live.size(); ++i, row += table.width()) {
    for (std::int64_t token = 0; token < table.width(); ++token) {
      if (row[token] == kImpossible) continue;
      all.push_back({i, token, live[i].log_probability + row[token]});
    }
  }
  const auto survivors = std::min(count, std::ssize(all));
  std::partial_sort(all.begin(), all.begin() + survivors, all.end(),
                    [](const Continuation& a, const Continuation& b) {
                      return std::tuple(-a.log_probability, a.parent, a.token) <
                             std::tuple(-b.log_probability, b.parent, b.token);
                    });
  all.resize(static_cast<std::size_t>(survivors));
  return all;
}

// A log-probability can only fall, and no length is divided by more than max_length is.
bool can_beat(const Live& live, const std::vector<Hypothesis>& complete,
              const SearchOptions& options) {
  const double bound =
      live.log_probability / length_penalty(options.max_length, options.length_penalty);
  return std::ranges::all_of(complete, [&](const Hypothesis& h) { return bound > h.score; });
}

}  // namespace

double length_penalty(std::int64_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

std::vector<Hypothesis> greedy_search(const NextLogProbabilities& next, std::int64_t sentences,
                                      const SearchOptions& options) {
  check_options("greedy_search", options);
  check(sentences >= 1, "greedy_search", "sentences", "must be at least 1",
        [&] { return std::to_string(sentences); });
  std::vector<Live> outputs(static_cast<std::size_t>(sentences), Live{{options.begin}});
  std::vector<Prefix> open;
  for (std::int64_t i = 0; i < sentences; ++i) open.push_back({i, {options.begin}});
  for (std::int64_t length = 1; length <= options.max_length && !open.empty(); ++length) {
    const Tensor table = ask("greedy_search", next, open, options);
    const double* row = table.data();
    std::vector<Prefix> still_open;
    for (Prefix& prefix : open) {
      const double* best = std::max_element(row, row + table.width());  // the first of equals
      check_possible("greedy_search", *best > kImpossible);
      prefix.tokens.push_back(best - row);
      Live& output = outputs[static_cast<std::size_t>(prefix.sentence)];
      output.tokens = prefix.tokens;
      output.log_probability += *best;
      if (best - row != options.end) still_open.push_back(std::move(prefix));
      row += table.width();
    }
    open = std::move(still_open);
  }
  std::vector<Hypothesis> results;
  for (const Live& output : outputs) results.push_back(finished(output, options));
  return results;
}

std::vector<Hypothesis> beam_search(const NextLogProbabilities& next, const SearchOptions& options,
                                    std::int64_t sentence) {
  check_options("beam_search", options);
  std::vector<Live> live{Live{{options.begin}}};
  std::vector<Hypothesis> complete;
  for (std::int64_t length = 1; length <= options.max_length; ++length) {
    std::vector<Prefix> prefixes;
    for (const Live& output : live) prefixes.push_back({sentence, output.tokens});
    const Tensor table = ask("beam_search", next, prefixes, options);
    std::vector<Live> longer;
    for (const Continuation& chosen : best_continuations(live, table, options.beam_size)) {
      Live output{live[chosen.parent].tokens, chosen.log_probability};
      output.tokens.push_back(chosen.token);
      if (chosen.token == options.end || length == options.max_length) {
        complete.push_back(finished(output, options));
      } else {
        longer.push_back(std::move(output));
      }
    }
    live = std::move(longer);
    if (live.empty() || !can_beat(live.front(), complete, options)) break;
  }
  check_possible("beam_search", !complete.empty());
  std::ranges::stable_sort(complete, std::greater<>{}, &Hypothesis::score);
  return complete;
}

}  // namespace normlab
