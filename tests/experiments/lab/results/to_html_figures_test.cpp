#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/report/figure_svg.hpp"
#include "experiments/lab/results/results.hpp"
#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;
using namespace normlab::lab;

namespace {

const Plotter kNoGnuplot{"normlab-no-such-gnuplot"};

Results sample_page() {
  Results results{.title = "A page",
                  .look_for = {"Look at the slope."},
                  .tables = {{.key = "numbers",
                              .title = "Numbers",
                              .columns = {{"depth", "depth"}, {"size", "size"}},
                              .rows = {{std::int64_t{6}, 2.0}, {std::int64_t{12}, 1.5}}}},
                  .figures = {sample_figure("one"), sample_figure("two")}};
  results.command = "program --report page.html";
  results.config = {{"width", "width d", std::int64_t{64}}};
  return results;
}

Results full_page() {
  Results results = sample_page();
  results.heat_maps = {sample_heat_map("map")};
  results.panels = {sample_panel("panel")};
  return results;
}

std::vector<std::string> ids_of(const std::string& page) {
  std::vector<std::string> ids;
  for (std::size_t at = 0; (at = page.find(" id=", at)) != std::string::npos;) {
    const char quote = page[at + 4];
    const std::size_t end = page.find(quote, at + 5);
    ids.push_back(page.substr(at + 5, end - at - 5));
    at = end;
  }
  return ids;
}

void check_ids_differ(const std::string& page) {
  const std::vector<std::string> ids = ids_of(page);
  CHECK(ids.size() >= 4);
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("to_html: every text is escaped") {
  Results results = sample_page();
  results.title = results.command = kHostile;
  results.config = {{kHostile, kHostile, kHostile}};
  results.look_for = {kHostile};
  results.figures.resize(1);
  results.figures[0].title = results.figures[0].alt = results.figures[0].caption = kHostile;
  results.tables[0] = {.key = "hostile",
                       .title = kHostile,
                       .columns = {{"a", kHostile}, {"b", kHostile}},
                       .rows = {{kHostile, kHostile}}};
  const std::string page = to_html(results, kNoGnuplot);
  CHECK_FALSE(contains(page, "<b onload"));
  CHECK_FALSE(contains(page, "it's"));
  std::size_t found = 0;
  const std::string escaped = escape_markup(kHostile);
  for (std::size_t at = 0; (at = page.find(escaped, at)) != std::string::npos; ++at) ++found;
  // Title and heading, command, pair, sentence, three of the figure, caption and label of the
  // table, its four cells.
  CHECK(found == 2 + 1 + 2 + 1 + 3 + 2 + 4);
}

TEST_CASE("to_html: without gnuplot on PATH the page says how to get it and keeps the tables") {
  const PathOverride path("/nonexistent");
  const std::string page = to_html(sample_page());
  CHECK(contains(page, "(gnuplot was not found)"));
  CHECK(contains(page, "<code>apt-get install gnuplot-nox</code>"));
  CHECK_FALSE(contains(page, "<svg"));
  CHECK(contains(page, "<td>1.5</td>"));
  CHECK(contains(page, "Alt text of two"));
}

TEST_CASE("to_html: a gnuplot that hangs is waited for once, not for every figure") {
  const PlotterStandIn stand_in("echo >> \"$0.started\"; sleep 600");
  const std::string page =
      to_html(sample_page(), {stand_in.program(), std::chrono::milliseconds(1500)});
  CHECK(contains(page, "(gnuplot did not end within 1.5 s)"));
  CHECK(contents(stand_in.program() + ".started") == "\n");
}

TEST_CASE("to_html: a figure without numbers does not take the others with it") {
  Results results = sample_page();
  results.figures[0].series.clear();
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = to_html(results, {stand_in.program()});
  CHECK(contains(page, "<p>Alt text of one</p>"));
  CHECK(contains(page, "<desc id=\"two-desc\">"));
  CHECK_FALSE(contains(page, "apt-get"));
}

TEST_CASE("to_html: without gnuplot heat maps and panels say what they would show") {
  Results results = full_page();
  results.figures.clear();
  const std::string page = to_html(results, kNoGnuplot);
  CHECK(contains(page, "(gnuplot was not found)"));
  CHECK(contains(page, "<h3>Title of map</h3>\n<p>Alt text of map</p>"));
  CHECK(
      contains(page, "<figure class=\"wide\">\n<h3>Title of panel</h3>\n<p>Alt text of panel</p>"));
  CHECK(contains(page, "<figcaption>Caption of panel</figcaption>"));
  results.panels.clear();
  results.heat_maps.clear();
  CHECK_FALSE(contains(to_html(results, kNoGnuplot), "gnuplot-nox"));
}

TEST_CASE("to_html: heat maps, figures and panels in this order, whose ids all differ") {
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = to_html(full_page(), {stand_in.program()});
  check_ids_differ(page);
  for (const char* part : {"<desc id=\"panel-desc\">Alt text of panel</desc>",
                           "id=\"panel-gnuplot_canvas\"", "id=\"map-gnuplot_canvas\""}) {
    CAPTURE(part);
    CHECK(contains(page, part));
  }
  CHECK_FALSE(contains(page, "apt-get"));
  const std::size_t map = page.find("Title of map"), figure = page.find("Title of one");
  CHECK(map < figure);
  CHECK(figure < page.find("Title of panel"));
}

TEST_CASE(
    "to_html: sentences in tables break into lines, numbers do not, and print has its style") {
  Results results = sample_page();
  results.tables[0].rows[0] = {"a sentence of several words", "2.0 [1.0, 3.0]"};
  const std::string page = to_html(results, kNoGnuplot);
  CHECK(contains(page, "<th scope=\"row\" class=\"long\">a sentence of several words</th>"));
  CHECK(contains(page, "<td>2.0 [1.0, 3.0]</td>"));
  CHECK(contains(page, "@media print"));
}

TEST_CASE("to_html: texts of heat maps and panels are escaped") {
  Results results = full_page();
  HeatMap& map = results.heat_maps[0];
  Panel& panel = results.panels[0];
  for (std::string* text : {&map.title, &map.caption, &map.cells[0][0].text, &panel.title,
                            &panel.alt, &panel.caption, &panel.plots[0].title, &panel.y_label}) {
    *text = kHostile;
  }
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = to_html(results, {stand_in.program()});
  CHECK(contains(page, escape_markup(kHostile)));
  CHECK_FALSE(contains(page, "<b onload"));
  CHECK_FALSE(contains(page, "it's"));
}

TEST_CASE("to_html: nothing is fetched and nothing runs") {
  const std::string page = to_html(full_page());
  CHECK(contains(page, "default-src 'none'"));
  for (const char* part : {"://", "<script", "<link", "<img", "url(", "@import", "src="}) {
    CAPTURE(part);
    CHECK_FALSE(contains(page, part));
  }
}

TEST_CASE("to_html: one result gives one sequence of bytes") {
  CHECK(to_html(full_page()) == to_html(full_page()));
}

TEST_CASE("to_html: ids of several figures differ") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(contains(to_html(sample_page()), "gnuplot-nox"));
    return;
  }
  const std::string page = to_html(sample_page());
  check_ids_differ(page);
  for (const char* name : {"one", "two"}) {
    CHECK(contains(page, std::string("<desc id=\"") + name + "-desc\">Alt text of " + name));
  }
}

TEST_CASE("to_html: figures of one name and rows of another length are refused") {
  Results results = sample_page();
  results.figures[1].name = "one";
  CHECK_THROWS_AS(to_html(results, kNoGnuplot), std::invalid_argument);
  results = sample_page();
  results.tables[0].rows[1].pop_back();
  CHECK_THROWS_AS(to_html(results, kNoGnuplot), std::invalid_argument);
  results = full_page();
  results.panels[0].name = "map";
  CHECK_THROWS_AS(to_html(results, kNoGnuplot), std::invalid_argument);
}
