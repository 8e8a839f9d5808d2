// Tested by tests/data/text/parallel_text_test.cpp.
#include "data/text/parallel_text.hpp"

#include <chrono>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/fnv1a.hpp"
#include "data/digits.hpp"
#include "data/text/date_names.hpp"
#include "data/text/number_names.hpp"

namespace normlab {

namespace {

constexpr std::chrono::sys_days kFirstDay = kFirstNamedYear / std::chrono::January / 1;

// `count` different whole numbers from 0 to available - 1, in random order.
std::vector<std::int64_t> draw_distinct(std::string_view op, std::int64_t count,
                                        std::int64_t available, Generator& generator) {
  check(count > 0 && count <= available, op, "count",
        fmt::format("must lie in 1 .. {}, the number of different sentences", available),
        [&] { return std::to_string(count); });
  std::vector<std::int64_t> drawn = generator.permutation(available);
  drawn.resize(static_cast<std::size_t>(count));
  return drawn;
}

}  // namespace

ParallelText number_pairs(std::int64_t count, std::int64_t largest, Generator& generator) {
  check(largest >= 0 && largest <= kLargestNamedNumber, "number_pairs", "largest",
        "must lie in 0 .. 999999", [&] { return std::to_string(largest); });
  ParallelText text;
  for (const std::int64_t number : draw_distinct("number_pairs", count, largest + 1, generator)) {
    text.source.push_back(german_number(number));
    text.target.push_back(english_number(number));
  }
  return text;
}

ParallelText date_pairs(std::int64_t count, Generator& generator) {
  ParallelText text;
  for (const std::int64_t day : draw_distinct("date_pairs", count, date_count(), generator)) {
    const std::chrono::year_month_day date(kFirstDay + std::chrono::days(day));
    text.source.push_back(german_date(date));
    text.target.push_back(english_date(date));
  }
  return text;
}

std::int64_t date_count() {
  const std::chrono::sys_days last = kLastNamedYear / std::chrono::December / 31;
  return (last - kFirstDay).count() + 1;
}

ParallelSplit split(const ParallelText& text, double train_fraction, Generator& generator) {
  check(text.source.size() == text.target.size(), "split", "text",
        "must have as many targets as sources",
        [&] { return fmt::format("{} and {}", text.source.size(), text.target.size()); });
  // Equal sources form a group; groups are numbered in the order of their first lines.
  std::unordered_map<std::string_view, std::size_t> groups;
  std::vector<std::size_t> line_groups;
  for (const std::string& source : text.source) {
    line_groups.push_back(groups.try_emplace(source, groups.size()).first->second);
  }
  std::vector<bool> in_train(groups.size(), false);
  for (const std::int64_t group :
       train_test_split(std::ssize(groups), train_fraction, generator).train) {
    in_train[static_cast<std::size_t>(group)] = true;
  }
  ParallelSplit parts;
  for (std::size_t line = 0; line < text.source.size(); ++line) {
    ParallelText& part = in_train[line_groups[line]] ? parts.train : parts.test;
    part.source.push_back(text.source[line]);
    part.target.push_back(text.target[line]);
  }
  return parts;
}

std::uint64_t fingerprint(const ParallelText& text) {
  std::uint64_t hash = kFnv1aStart;
  for (std::size_t line = 0; line < text.source.size(); ++line) {
    for (const std::string* sentence : {&text.source[line], &text.target[line]}) {
      hash = fnv1a("\n", fnv1a(*sentence, hash));
    }
  }
  return hash;
}

}  // namespace normlab
