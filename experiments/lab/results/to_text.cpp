// Results for a terminal. Tested by tests/experiments/lab/results/to_text_test.cpp.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/results/wrapped.hpp"

namespace normlab::lab {

namespace {

bool in_text(Shown shown) {
  return shown == Shown::everywhere || shown == Shown::in_text ||
         shown == Shown::in_text_and_on_page;
}

bool is_number(const Cell& cell) {
  return !std::holds_alternative<std::string>(cell) && !std::holds_alternative<bool>(cell) &&
         !std::holds_alternative<std::monostate>(cell);
}

std::string text_of(const Cell& cell, const Column& column) {
  const auto* spread = std::get_if<Spread>(&cell);
  if (spread != nullptr && column.median_only) return cell_text(spread->median, column);
  return cell_text(cell, column);
}

// How many columns of a terminal a text in UTF-8 takes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string spaces(width - std::min(width, width_of(text)), ' ');
  return right ? spaces + text : text + spaces;
}

// One column, from its title down; numbers stand to the right.
std::vector<std::string> column_of(const Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  bool right = false;
  for (const Row& row : table.rows) right = right || is_number(row[index]);
  std::vector<std::string> texts{column.title};
  for (const Row& row : table.rows) texts.push_back(text_of(row[index], column));
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, width_of(text));
  for (std::string& text : texts) text = padded(text, width, right);
  return texts;
}

// The sentences above a row, as one: "title: statement".
std::string sentence_above(const Table& table, const Row& row) {
  std::string sentence;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!table.columns[i].above_row) continue;
    sentence += (sentence.empty() ? "" : ": ") + text_of(row[i], table.columns[i]);
  }
  return sentence;
}

// The header and the rows; the columns in text stand `gap` apart.
std::vector<std::string> lines_of(const Table& table, const std::string& indent,
                                  const std::string& gap) {
  std::vector<std::string> lines(table.rows.size() + 1);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!in_text(table.columns[i].shown) || table.columns[i].above_row) continue;
    const std::vector<std::string> column = column_of(table, i);
    for (std::size_t line = 0; line < lines.size(); ++line) {
      lines[line] += (lines[line].empty() ? indent : gap) + column[line];
    }
  }
  return lines;
}

std::string text_of(const Table& table) {
  constexpr std::size_t kColumns = 80;
  const bool sentences = std::any_of(table.columns.begin(), table.columns.end(),
                                     [](const Column& column) { return column.above_row; });
  const std::string indent = sentences ? "    " : "";
  std::vector<std::string> lines = lines_of(table, indent, "  ");
  if (width_of(lines.front()) > kColumns) lines = lines_of(table, indent, " ");
  std::string text = table.title.empty() ? "" : table.title + "\n";
  for (std::size_t line = 0; line < lines.size(); ++line) {
    if (sentences && line > 0) text += wrapped(sentence_above(table, table.rows[line - 1]));
    text += lines[line].substr(0, lines[line].find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

// What the columns are, once for all tables.
std::string meanings(const std::vector<Table>& tables) {
  std::string text;
  std::set<std::string> told;
  for (const Table& table : tables) {
    if (!in_text(table.shown)) continue;
    for (const Column& column : table.columns) {
      if (column.meaning.empty() || !in_text(column.shown)) continue;
      if (told.insert(column.title + column.meaning).second) {
        text += wrapped(column.title + ": " + column.meaning);
      }
    }
  }
  return text;
}

}  // namespace

std::string to_text(const Results& results) {
  if (!results.text.empty()) return results.text;
  std::string text = fmt::format("normlab {} | {}\n", NORMLAB_VERSION, results.heading);
  text += meanings(results.tables);
  for (const Table& table : results.tables) {
    check_table(table);
    if (in_text(table.shown)) text += fmt::format("\n{}", text_of(table));
  }
  return text;
}

}  // namespace normlab::lab
