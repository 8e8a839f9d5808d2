#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/experiments/lab/results/results_samples.hpp"

using namespace normlab::lab;
using normlab::Estimate;
using normlab::Spread;

namespace {

// What stands below the line of version and heading.
std::string body(const Results& results) {
  const std::string text = to_text(results);
  return text.substr(text.find('\n') + 1);
}

std::string text_of(const Cell& cell, const Column& column = {"", ""}) {
  return cell_text(cell, column);
}

}  // namespace

TEST_CASE(
    "to_text: text stands to the left, numbers to the right, and what there is not is a dash") {
  CHECK(body(sample_results()) ==
        "  ratio: last to first\n"
        "\n"
        "Sizes\n"
        "norm        L  size             ratio       slope\n"
        "layernorm   3  1.00  2.5 [2.25, 4.75]  -0.2 (0.5)\n"
        "dyt        12     -                 -           -\n");
}

TEST_CASE("to_text: the first line has the version and the heading") {
  const std::string text = to_text(sample_results());
  CHECK(text.starts_with("normlab "));
  CHECK(text.substr(0, text.find('\n')).ends_with(" | width 8, seeds [0, 1]"));
}

TEST_CASE("to_text: letters of several bytes take one column") {
  Results results = sample_results();
  results.tables = {{.key = "t",
                     .title = "",
                     .columns = {{"a", "ä"}, {"b", "b"}},
                     .rows = {{"größe", "x"}, {"weiss", "y"}}}};
  CHECK(body(results) == "\nä      b\ngröße  x\nweiss  y\n");
}

TEST_CASE("to_text: a spread is its median alone where the column says so") {
  Results results = sample_results();
  results.tables[0].columns[3].median_only = true;
  const std::string text = to_text(results);
  CHECK(text.find("  2.5  ") != std::string::npos);
  CHECK(text.find("2.25") == std::string::npos);
}

TEST_CASE("to_text: columns and tables that stand elsewhere are left out") {
  Results results = sample_results();
  results.tables[0].columns[1].shown = Shown::in_json;
  results.tables[0].columns[2].shown = Shown::on_page_and_in_json;
  results.tables[0].columns[4].shown = Shown::in_text;
  results.tables.push_back({.key = "points",
                            .title = "Points",
                            .columns = {{"x", "x"}},
                            .rows = {{1.0}},
                            .shown = Shown::in_json});
  CHECK(body(results) ==
        "  ratio: last to first\n"
        "\n"
        "Sizes\n"
        "norm                  ratio       slope\n"
        "layernorm  2.5 [2.25, 4.75]  -0.2 (0.5)\n"
        "dyt                       -           -\n");
}

TEST_CASE("to_text: a meaning is told once for all tables, in lines of 80 columns at most") {
  Results results = sample_results();
  std::string meaning;
  for (int i = 0; i < 60; ++i) meaning += "word ";
  results.tables[0].columns[3].meaning = meaning;
  results.tables.push_back(results.tables[0]);
  const std::string text = to_text(results);
  CHECK(text.find("ratio: word") == text.rfind("ratio: word"));
  std::size_t column = 0, widest = 0;
  for (const char c : text) {
    column = c == '\n' ? 0 : column + 1;
    widest = std::max(widest, column);
  }
  CHECK(widest <= 80);
  CHECK(widest > 70);
}

TEST_CASE("to_text: a published layout stands in place of everything else") {
  Results results = sample_results();
  results.text = "as published\n";
  CHECK(to_text(results) == "as published\n");
}

TEST_CASE("cell_text: how a value of each kind is written") {
  CHECK(text_of(std::monostate()) == "-");
  CHECK(text_of(true) == "yes");
  CHECK(text_of(false) == "no");
  CHECK(text_of(std::int64_t{-3}) == "-3");
  CHECK(text_of(std::uint64_t{18446744073709551615u}) == "18446744073709551615");
  CHECK(text_of(1234.5678) == "1235");
  CHECK(text_of(kNaN) == "-");
  CHECK(text_of(kInfinity) == "inf");
  CHECK(text_of(-kInfinity) == "-inf");
  CHECK(text_of(-0.004, {"", "", ".2f"}) == "0.00");
  CHECK(text_of(-0.006, {"", "", ".2f"}) == "-0.01");
  CHECK(text_of(Estimate{0.25, kInfinity}) == "0.25");  // of one seed
  CHECK(text_of(Estimate{kNaN, 1.0}) == "-");
  CHECK(text_of(std::vector<std::int64_t>{3, 6}) == "3, 6");
  CHECK(text_of(std::vector<double>{0.5, kNaN}) == "0.5, -");
  CHECK(text_of(std::vector<std::string>{}).empty());
}

TEST_CASE("to_text: a row of another length than the columns is refused, and the table is named") {
  Results results = sample_results();
  results.tables[0].rows[1].pop_back();
  for (const auto render :
       {+[](const Results& r) { return to_text(r); }, +[](const Results& r) { return to_json(r); },
        +[](const Results& r) { return to_html(r); }}) {
    CHECK_THROWS_WITH_AS(render(results),
                         "[results] table sizes: must have a cell for each of its columns in every "
                         "row, got 4 of 5",
                         std::invalid_argument);
  }
}
