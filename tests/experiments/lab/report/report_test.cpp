#include "experiments/lab/report/report.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/report/figure_svg.hpp"
#include "tests/experiments/lab/report/plotter_stand_in.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

const Plotter kNoGnuplot{"normlab-no-such-gnuplot"};

Report full_report() {
  Report report = sample_report();
  report.heat_maps = {sample_heat_map("map")};
  report.panels = {sample_panel("panel")};
  return report;
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

TEST_CASE("html_of: every text is escaped") {
  Report report = sample_report();
  report.title = report.command = kHostile;
  report.configuration = {{kHostile, kHostile}};
  report.look_for = {kHostile};
  report.figures.resize(1);
  report.figures[0].title = report.figures[0].alt = report.figures[0].caption = kHostile;
  report.tables[0] = {kHostile, {kHostile, kHostile}, {{kHostile, kHostile}}};
  const std::string page = html_of(report, kNoGnuplot);
  CHECK_FALSE(contains(page, "<b onload"));
  CHECK_FALSE(contains(page, "it's"));
  std::size_t found = 0;
  const std::string escaped = escape_markup(kHostile);
  for (std::size_t at = 0; (at = page.find(escaped, at)) != std::string::npos; ++at) ++found;
  // Title and heading, command, pair, sentence, three of the figure, caption and label of the
  // table, its four cells.
  CHECK(found == 2 + 1 + 2 + 1 + 3 + 2 + 4);
}

TEST_CASE("html_of: without gnuplot on PATH the page says how to get it and keeps the tables") {
  const PathOverride path("/nonexistent");
  const std::string page = html_of(sample_report());
  CHECK(contains(page, "(gnuplot was not found)"));
  CHECK(contains(page, "<code>apt-get install gnuplot-nox</code>"));
  CHECK_FALSE(contains(page, "<svg"));
  CHECK(contains(page, "<td>1.5</td>"));
  CHECK(contains(page, "Alt text of two"));
}

TEST_CASE("html_of: a gnuplot that hangs is waited for once, not for every figure") {
  const PlotterStandIn stand_in("echo >> \"$0.started\"; sleep 600");
  const std::string page =
      html_of(sample_report(), {stand_in.program(), std::chrono::milliseconds(1500)});
  CHECK(contains(page, "(gnuplot did not end within 1.5 s)"));
  CHECK(contents(stand_in.program() + ".started") == "\n");
}

TEST_CASE("html_of: a figure without numbers does not take the others with it") {
  Report report = sample_report();
  report.figures[0].series.clear();
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = html_of(report, {stand_in.program()});
  CHECK(contains(page, "<p>Alt text of one</p>"));
  CHECK(contains(page, "<desc id=\"two-desc\">"));
  CHECK_FALSE(contains(page, "apt-get"));
}

TEST_CASE("html_of: without gnuplot heat maps and panels say what they would show") {
  Report report = full_report();
  report.figures.clear();
  const std::string page = html_of(report, kNoGnuplot);
  CHECK(contains(page, "(gnuplot was not found)"));
  CHECK(contains(page, "<h3>Title of map</h3>\n<p>Alt text of map</p>"));
  CHECK(
      contains(page, "<figure class=\"wide\">\n<h3>Title of panel</h3>\n<p>Alt text of panel</p>"));
  CHECK(contains(page, "<figcaption>Caption of panel</figcaption>"));
  report.panels.clear();
  report.heat_maps.clear();
  CHECK_FALSE(contains(html_of(report, kNoGnuplot), "gnuplot-nox"));
}

TEST_CASE("html_of: heat maps, figures and panels in this order, of which all ids differ") {
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = html_of(full_report(), {stand_in.program()});
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
    "html_of: sentences in tables break into lines, numbers do not, and print has its style") {
  Report report = sample_report();
  report.tables[0].rows[0] = {"a sentence of several words", "2.0 [1.0, 3.0]"};
  const std::string page = html_of(report, kNoGnuplot);
  CHECK(contains(page, "<th scope=\"row\" class=\"long\">a sentence of several words</th>"));
  CHECK(contains(page, "<td>2.0 [1.0, 3.0]</td>"));
  CHECK(contains(page, "@media print"));
}

TEST_CASE("html_of: texts of heat maps and panels are escaped") {
  Report report = full_report();
  HeatMap& map = report.heat_maps[0];
  Panel& panel = report.panels[0];
  for (std::string* text : {&map.title, &map.caption, &map.cells[0][0].text, &panel.title,
                            &panel.alt, &panel.caption, &panel.plots[0].title, &panel.y_label}) {
    *text = kHostile;
  }
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string page = html_of(report, {stand_in.program()});
  CHECK(contains(page, escape_markup(kHostile)));
  CHECK_FALSE(contains(page, "<b onload"));
  CHECK_FALSE(contains(page, "it's"));
}

TEST_CASE("html_of: nothing is fetched and nothing runs") {
  const std::string page = html_of(full_report());
  CHECK(contains(page, "default-src 'none'"));
  for (const char* part : {"://", "<script", "<link", "<img", "url(", "@import", "src="}) {
    CAPTURE(part);
    CHECK_FALSE(contains(page, part));
  }
}

TEST_CASE("html_of: one report gives one sequence of bytes") {
  CHECK(html_of(full_report()) == html_of(full_report()));
}

TEST_CASE("html_of: ids of several figures differ") {
  if (gnuplot_is_missing()) {
    MESSAGE("skipped: gnuplot was not found");
    CHECK(contains(html_of(sample_report()), "gnuplot-nox"));
    return;
  }
  const std::string page = html_of(sample_report());
  check_ids_differ(page);
  for (const char* name : {"one", "two"}) {
    CHECK(contains(page, std::string("<desc id=\"") + name + "-desc\">Alt text of " + name));
  }
}

TEST_CASE("html_of: figures of one name and rows of another length are refused") {
  Report report = sample_report();
  report.figures[1].name = "one";
  CHECK_THROWS_AS(html_of(report, kNoGnuplot), std::invalid_argument);
  report = sample_report();
  report.tables[0].rows[1].pop_back();
  CHECK_THROWS_AS(html_of(report, kNoGnuplot), std::invalid_argument);
  report = full_report();
  report.panels[0].name = "map";
  CHECK_THROWS_AS(html_of(report, kNoGnuplot), std::invalid_argument);
}

TEST_CASE("write_figures: every figure is a file of the folder, which is made") {
  const PlotterStandIn stand_in("echo '<svg><g id=\"gnuplot_canvas\"></g></svg>'");
  const std::string folder = stand_in.folder() + "/new/figures";
  check_figures_folder(folder, {stand_in.program()});
  Report report = full_report();
  // Two without anything to draw are left out.
  report.figures.push_back(sample_figure("nothing"));
  report.figures.back().series.clear();
  report.panels.push_back(sample_panel("none"));
  for (Panel::Plot& plot : report.panels.back().plots) plot.series.clear();
  write_figures(report.heat_maps, report.figures, report.panels, folder, {stand_in.program()});
  CHECK(contents(folder + "/one.svg") == svg_of(sample_figure("one"), {stand_in.program()}));
  CHECK(contents(folder + "/map.svg") == svg_of(sample_heat_map("map"), {stand_in.program()}));
  CHECK(contents(folder + "/panel.svg") == svg_of(sample_panel("panel"), {stand_in.program()}));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 4);
}

TEST_CASE("check_figures_folder: a missing gnuplot and a file in the way are refused") {
  CHECK_THROWS_WITH_AS(check_figures_folder(".", kNoGnuplot),
                       doctest::Contains("apt-get install gnuplot-nox"), std::runtime_error);
  const PlotterStandIn stand_in("true");
  CHECK_THROWS_AS(check_figures_folder(stand_in.program(), {stand_in.program()}),
                  std::runtime_error);
}

TEST_CASE("command_text: words are quoted for a shell, and folders stay private") {
  const char* arguments[] = {"/home/me/bin/x", "--seeds",           "0",
                             "--input-scale",  "1/sqrt(d)",         "it's",
                             "--json",         "/home/me/a b.json", "--report=/home/me/page.html"};
  CHECK(command_text("x", 9, arguments, {"--json", "--report"}) ==
        "x --seeds 0 --input-scale '1/sqrt(d)' 'it'\\''s' --json 'a b.json' --report=page.html");
}
