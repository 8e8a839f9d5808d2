#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/lab/stats/statistics.hpp"

namespace normlab::lab {

// What stands in one place of a table or belongs to one option: a number and not its text, so that
// text, JSON and page each write it in their own way. Empty where there is nothing to say.
using Cell = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                          Spread, Estimate, std::vector<std::int64_t>, std::vector<std::uint64_t>,
                          std::vector<double>, std::vector<std::string>>;

// Who sees a column or a table. What is too long to read stands in JSON only.
enum class Shown { everywhere, on_page_and_in_json, in_text_and_on_page, in_json, in_text };

struct Column {
  std::string key;    // in JSON: a-z, 0-9 and _
  std::string title;  // in text and on the page
  // Of a number, as in fmt's format strings; ".1%" writes a share in percent, 0.125 as 12.5.
  std::string format = ".4g";
  std::string meaning{};  // where the title does not say it: what it is, and its unit
  Shown shown = Shown::everywhere;
  bool median_only = false;  // of a Spread, in text: its range would not fit 80 columns
  bool above_row = false;    // in text: a sentence, on lines of its own before the rest of its row
};

using Row = std::vector<Cell>;

// Tables of one key are one list in JSON. What all rows of one of them share stands in its title,
// and in `common` for JSON, where it is part of every row.
struct Table {
  std::string key;    // in JSON
  std::string title;  // in text and on the page
  std::vector<Column> columns;
  std::vector<Row> rows{};
  std::vector<std::pair<std::string, Cell>> common{};  // key and value
  Shown shown = Shown::everywhere;
};

// The cell as text: "-" for NaN and for nothing, "2.55 [2.24, 4.77]" for a Spread, "0.28 (0.03)"
// for an Estimate, which is "0.28" if its error is infinite.
std::string cell_text(const Cell& cell, const Column& column);

// Throws std::invalid_argument, naming the table, if a row has not one cell for each column.
void check_table(const Table& table);

}  // namespace normlab::lab
