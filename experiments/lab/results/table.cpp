// How a cell is written. Tested by tests/experiments/lab/results/to_text_test.cpp.
#include "experiments/lab/results/table.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"

namespace normlab::lab {

namespace {

std::string number_text(double value, const std::string& format) {
  if (std::isnan(value)) return "-";
  if (format.ends_with('%')) {
    return number_text(100.0 * value, format.substr(0, format.size() - 1) + "f");
  }
  std::string text = fmt::format(fmt::runtime("{:" + format + "}"), value);
  // What rounds to zero has no sign.
  if (text.starts_with('-') && text.find_first_of("123456789i") == std::string::npos)
    text.erase(0, 1);
  return text;
}

struct CellText {
  const Column& column;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value, column.format); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Spread& spread) const {
    if (std::isnan(spread.median)) return "-";
    return fmt::format("{} [{}, {}]", number_text(spread.median, column.format),
                       number_text(spread.smallest, column.format),
                       number_text(spread.largest, column.format));
  }
  std::string operator()(const Estimate& estimate) const {
    const std::string mean = number_text(estimate.mean, column.format);
    if (!std::isfinite(estimate.mean) || !std::isfinite(estimate.error)) return mean;
    return fmt::format("{} ({})", mean, number_text(estimate.error, column.format));
  }
  std::string operator()(const std::vector<double>& values) const {
    std::vector<std::string> texts;
    for (double value : values) texts.push_back(number_text(value, column.format));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    return fmt::format("{}", fmt::join(values, ", "));
  }
};

}  // namespace

std::string cell_text(const Cell& cell, const Column& column) {
  return std::visit(CellText{column}, cell);
}

void check_table(const Table& table) {
  for (const Row& row : table.rows) {
    check(row.size() == table.columns.size(), "results", "table " + table.key,
          "must have a cell for each of its columns in every row",
          [&] { return fmt::format("{} of {}", row.size(), table.columns.size()); });
  }
}

}  // namespace normlab::lab
