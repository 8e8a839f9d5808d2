#include <doctest/doctest.h>

#include "experiments/lab/report/figure_svg.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"
#include "tests/experiments/lab/results/results_samples.hpp"

using namespace normlab;
using namespace normlab::lab;

namespace {

const Plotter kNoGnuplot{"normlab-no-such-gnuplot"};

std::string page_of(const Results& results) { return to_html(results, kNoGnuplot); }

}  // namespace

TEST_CASE("to_html: title, command, sentences, tables and configuration stand on the page") {
  Results results = sample_results();
  results.look_for = {"Look at the slope."};
  const std::string page = page_of(results);
  for (const char* part :
       {"<h1>Sizes of &lt;norms&gt;</h1>", "<code>sizes --width 8</code>",
        "<li>Look at the slope.</li>", "<caption>Sizes</caption>", "<th scope=\"col\">slope</th>",
        "<th scope=\"row\">layernorm</th><td>3</td><td>1.00</td><td>2.5 [2.25, 4.75]</td>"
        "<td>-0.2 (0.5)</td>",
        "<th scope=\"row\">dyt</th><td>12</td><td>-</td><td>-</td><td>-</td>",
        "<dt>width</dt><dd>8</dd>", "<dt>seeds</dt><dd>0, 1</dd>", "<dt>normlab</dt>"}) {
    CAPTURE(part);
    CHECK(contains(page, part));
  }
  CHECK(page == page_of(results));
}

TEST_CASE("to_html: a spread has its range, whatever the text leaves out") {
  Results results = sample_results();
  results.tables[0].columns[3].median_only = true;
  CHECK(contains(page_of(results), "<td>2.5 [2.25, 4.75]</td>"));
}

TEST_CASE("to_html: columns and tables for JSON or text alone are left out") {
  Results results = sample_results();
  results.tables[0].columns[1].shown = Shown::in_json;
  results.tables[0].columns[2].shown = Shown::on_page_and_in_json;
  results.tables[0].columns[4].shown = Shown::in_text;
  results.tables.push_back(
      {.key = "points", .title = "Points", .columns = {{"x", "x"}}, .shown = Shown::in_json});
  const std::string page = page_of(results);
  CHECK(contains(page,
                 "<th scope=\"row\">layernorm</th><td>1.00</td><td>2.5 [2.25, 4.75]</td></tr>"));
  CHECK_FALSE(contains(page, "slope"));
  CHECK_FALSE(contains(page, "Points"));
}

TEST_CASE("to_html: no text is read as markup") {
  Results results = sample_results();
  results.title = results.command = kHostile;
  results.look_for = {kHostile};
  results.config[0].key = kHostile;
  results.config[0].value = kHostile;
  results.tables[0].title = results.tables[0].columns[0].title = kHostile;
  results.tables[0].rows[0][0] = kHostile;
  results.figures = {sample_figure("one")};
  results.figures[0].title = results.figures[0].alt = results.figures[0].caption = kHostile;
  const std::string page = page_of(results);
  CHECK_FALSE(contains(page, "<b onload"));
  CHECK_FALSE(contains(page, "it's"));
  CHECK(contains(page, "<caption>" + escape_markup(kHostile) + "</caption>"));
}

TEST_CASE("to_html: without gnuplot the page has its tables and says what is missing") {
  Results results = sample_results();
  results.figures = {sample_figure("one")};
  const std::string page = page_of(results);
  CHECK(contains(page, "(gnuplot was not found)"));
  CHECK(contains(page, "Alt text of one"));
  CHECK(contains(page, "<caption>Sizes</caption>"));
}
