// A report as a page. Tested by tests/experiments/lab/report/report_test.cpp.
#include <set>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/report/figure_svg.hpp"
#include "experiments/lab/report/report.hpp"
#include "experiments/lab/report/report_style.hpp"

namespace normlab {

namespace {

void check_report(const Report& report) {
  std::set<std::string> names;
  const auto check_all = [&](const auto& figures) {
    for (const auto& figure : figures) {
      check_figure(figure);
      check(names.insert(figure.name).second, "report", "figures",
            "must have different names, of which their ids are made", figure.name);
    }
  };
  check_all(report.heat_maps);
  check_all(report.figures);
  check_all(report.panels);
  for (const Table& table : report.tables) {
    for (const auto& row : table.rows) {
      check(row.size() == table.header.size(), "report", "table " + table.title,
            "must have as many cells in a row as in the header", std::to_string(row.size()));
    }
  }
}

// The policy makes the browser hold what the page promises: it fetches and runs nothing.
std::string head_of(const Report& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}{}{}{}</style>\n</head>\n",
      escape_markup(report.title), kPageStyle, figure_style(),
      report.heat_maps.empty() ? "" : heat_map_style(), report.panels.empty() ? "" : kPanelStyle);
}

std::string sentences(const std::vector<std::string>& look_for) {
  if (look_for.empty()) return "";
  std::string items;
  for (const std::string& each : look_for) items += "<li>" + escape_markup(each) + "</li>\n";
  return "<h2>What to look for</h2>\n<ul>\n" + items + "</ul>\n";
}

// `shown` is markup, or empty: undrawn, a figure still says what it would show.
template <typename AnyFigure>
std::string figure_element(const AnyFigure& figure, const std::string& shown,
                           const char* attributes = "") {
  return fmt::format("<figure{}>\n<h3>{}</h3>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                     attributes, escape_markup(figure.title),
                     shown.empty() ? "<p>" + escape_markup(figure.alt) + "</p>" : shown,
                     escape_markup(figure.caption));
}

// On a phone the drawing shrinks as long as its 14 px letters can be read; a wider one scrolls.
std::string heat_map_element(const HeatMap& map) {
  return figure_element(
      map,
      fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
                  "<div style=\"min-width:{}px\">\n{}\n</div>\n</div>",
                  escape_markup(map.title), 7 * size_of(map).width / 10, draw(map, SvgFor::page)));
}

std::string panel_element(const Panel& panel, const DrawnPanel& drawn) {
  if (drawn.plots.empty()) return figure_element(panel, "", " class=\"panel\"");
  std::string plots, names;
  for (std::size_t i = 0; i < drawn.plots.size(); ++i) {
    const std::string& title = panel.plots[i].title;
    plots += fmt::format(
        "<div>\n<h4>{}</h4>\n{}\n</div>\n", escape_markup(title),
        svg_element({ids_of_plot(panel, i), title, panel.y_label + " against " + panel.x_label,
                     kSmallPlot, "", drawn.plots[i]},
                    SvgFor::page));
  }
  const std::string key =
      svg_element({ids_of_key(panel), "Key", "The names of the lines of all plots",
                   key_size_of(panel), "", drawn.key},
                  SvgFor::page);
  return figure_element(
      panel,
      fmt::format("<div class=\"plots\" role=\"group\" aria-label=\"{}\">\n{}</div>\n"
                  "<div class=\"key\">\n{}\n</div>",
                  escape_markup(panel.alt), plots, key),
      " class=\"panel\"");
}

std::string figures_of(const Report& report, const Plotter& plotter) {
  if (report.figures.empty() && report.heat_maps.empty() && report.panels.empty()) return "";
  std::string elements, problem;
  for (const HeatMap& map : report.heat_maps) elements += heat_map_element(map);
  // Once gnuplot has failed it is not waited for again.
  for (const Figure& figure : report.figures) {
    DrawnFigure drawn;
    if (problem.empty()) {
      const bool empty = gnuplot_script(figure).empty();
      drawn = draw(figure, plotter, SvgFor::page);
      if (!empty) problem = drawn.problem;
    }
    elements += figure_element(figure, drawn.svg);
  }
  for (const Panel& panel : report.panels) {
    DrawnPanel drawn;
    if (problem.empty()) {
      const bool empty = gnuplot_scripts(panel).plots.empty();
      drawn = draw(panel, plotter);
      if (!empty) problem = drawn.problem;
    }
    elements += panel_element(panel, drawn);
  }
  std::string notice;
  if (!problem.empty()) {
    notice = fmt::format(
        "<p class=\"notice\">Figures are missing here ({}): install it with <code>apt-get install "
        "gnuplot-nox</code> and run the command above again.</p>\n",
        escape_markup(problem));
  }
  return "<h2>Figures</h2>\n" + notice + "<div class=\"figures\">\n" + elements + "</div>\n";
}

std::string row_of(const std::vector<std::string>& cells, bool header) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* open = header ? "<th scope=\"col\">" : i == 0 ? "<th scope=\"row\">" : "<td>";
    text += open + escape_markup(cells[i]) + (header || i == 0 ? "</th>" : "</td>");
  }
  return text + "</tr>\n";
}

// The box can be focused, so that the keyboard scrolls it, too.
std::string table_element(const Table& table) {
  std::string rows;
  for (const auto& row : table.rows) rows += row_of(row, false);
  const std::string title = escape_markup(table.title);
  return fmt::format(
      "<div class=\"table scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n"
      "<caption>{}</caption>\n<thead>\n{}</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
      title, title, row_of(table.header, true), rows);
}

std::string tables_of(const Report& report) {
  if (report.tables.empty()) return "";
  std::string text = "<h2>Tables</h2>\n";
  for (const Table& table : report.tables) text += table_element(table);
  return text;
}

std::string configuration_of(const Report& report) {
  if (report.configuration.empty()) return "";
  std::string pairs;
  for (const auto& [name, value] : report.configuration) {
    pairs += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  }
  return "<h2>Configuration</h2>\n<dl>\n" + pairs + "</dl>\n";
}

}  // namespace

std::string html_of(const Report& report, const Plotter& plotter) {
  check_report(report);
  return head_of(report) +
         fmt::format(
             "<body>\n<main>\n<h1>{}</h1>\n"
             "<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n",
             escape_markup(report.title), escape_markup(report.command)) +
         sentences(report.look_for) + figures_of(report, plotter) + tables_of(report) +
         configuration_of(report) + "</main>\n</body>\n</html>\n";
}

}  // namespace normlab
