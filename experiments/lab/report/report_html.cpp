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
      "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n",
      escape_markup(report.title), kPageStyle, figure_style());
}

std::string sentences(const std::vector<std::string>& look_for) {
  if (look_for.empty()) return "";
  std::string items;
  for (const std::string& each : look_for) items += "<li>" + escape_markup(each) + "</li>\n";
  return "<h2>What to look for</h2>\n<ul>\n" + items + "</ul>\n";
}

// `svg` may be empty: undrawn, a figure still says what it would show. On a phone the drawing
// shrinks as long as its 14 px letters can be read; a wider one scrolls.
template <typename AnyFigure>
std::string figure_element(const AnyFigure& figure, const std::string& svg) {
  constexpr int kUsualWidth = 460, kWidest = 620;  // of two beside each other
  const int width = size_of(figure).width;
  const std::string title = escape_markup(figure.title);
  const std::string shown =
      svg.empty() ? "<p>" + escape_markup(figure.alt) + "</p>"
      : width <= kUsualWidth
          ? svg
          : fmt::format(
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
                "<div style=\"min-width:{}px;max-width:{}px\">\n{}\n</div>\n</div>",
                title, 7 * width / 10, 3 * width / 2, svg);
  return fmt::format("<figure{}>\n<h3>{}</h3>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                     width <= kWidest ? "" : " class=\"wide\"", title, shown,
                     escape_markup(figure.caption));
}

std::string figures_of(const Report& report, const Plotter& plotter) {
  if (report.figures.empty() && report.heat_maps.empty() && report.panels.empty()) return "";
  std::string elements, problem;
  const auto add = [&](const auto& figures) {
    for (const auto& figure : figures) {
      // Once gnuplot has failed it is not waited for again.
      const bool to_draw = problem.empty() && !gnuplot_script(figure).empty();
      const DrawnFigure drawn =
          to_draw ? draw(figure, plotter, SvgFor::page) : DrawnFigure{"", problem};
      problem = drawn.problem;
      elements += figure_element(figure, drawn.svg);
    }
  };
  add(report.heat_maps);
  add(report.figures);
  add(report.panels);
  std::string notice;
  if (!problem.empty()) {
    notice = fmt::format(
        "<p class=\"notice\">Figures are missing here ({}): install it with <code>apt-get install "
        "gnuplot-nox</code> and run the command above again.</p>\n",
        escape_markup(problem));
  }
  return "<h2>Figures</h2>\n" + notice + "<div class=\"figures\">\n" + elements + "</div>\n";
}

// Sentences break into lines; numbers and names do not.
std::string row_of(const std::vector<std::string>& cells, bool header) {
  constexpr std::size_t kLongest = 24;
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_head = header || i == 0;
    text += fmt::format("<{}{}{}>{}</{}>", is_head ? "th" : "td",
                        header    ? " scope=\"col\""
                        : is_head ? " scope=\"row\""
                                  : "",
                        cells[i].size() > kLongest ? " class=\"long\"" : "",
                        escape_markup(cells[i]), is_head ? "th" : "td");
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
