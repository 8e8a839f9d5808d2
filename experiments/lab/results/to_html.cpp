// Results as a page. Tested by tests/experiments/lab/results/to_html_test.cpp and
// to_html_figures_test.cpp.
#include <set>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/report/figure_svg.hpp"
#include "experiments/lab/report/page_style.hpp"
#include "experiments/lab/results/results.hpp"

namespace normlab::lab {

namespace {

bool on_page(Shown shown) {
  return shown == Shown::everywhere || shown == Shown::on_page_and_in_json ||
         shown == Shown::in_text_and_on_page;
}

void check_results(const Results& results) {
  std::set<std::string> names;
  const auto check_all = [&](const auto& figures) {
    for (const auto& figure : figures) {
      check_figure(figure);
      check(names.insert(figure.name).second, "results", "figures",
            "must have different names, from which their ids are made", figure.name);
    }
  };
  check_all(results.heat_maps);
  check_all(results.figures);
  check_all(results.panels);
  for (const Table& table : results.tables) check_table(table);
}

// The policy makes the browser hold what the page promises: it fetches and runs nothing.
std::string head_of(const Results& results) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n",
      escape_markup(results.title), kPageStyle, figure_style());
}

std::string sentences(const std::vector<std::string>& look_for) {
  if (look_for.empty()) return "";
  std::string items;
  for (const std::string& sentence : look_for)
    items += "<li>" + escape_markup(sentence) + "</li>\n";
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

std::string figures_of(const Results& results, const Plotter& plotter) {
  if (results.figures.empty() && results.heat_maps.empty() && results.panels.empty()) return "";
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
  add(results.heat_maps);
  add(results.figures);
  add(results.panels);
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
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!on_page(column.shown)) continue;
    header.push_back(column.title);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row].push_back(cell_text(table.rows[row][i], column));
    }
  }
  std::string body;
  for (const auto& row : rows) body += row_of(row, false);
  const std::string title = escape_markup(table.title);
  return fmt::format(
      "<div class=\"table scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n"
      "<caption>{}</caption>\n<thead>\n{}</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
      title, title, row_of(header, true), body);
}

std::string tables_of(const Results& results) {
  std::string text;
  for (const Table& table : results.tables) {
    if (on_page(table.shown)) text += table_element(table);
  }
  return text.empty() ? "" : "<h2>Tables</h2>\n" + text;
}

std::string configuration_of(const Results& results) {
  std::string pairs = fmt::format("<dt>normlab</dt><dd>{}</dd>\n", NORMLAB_VERSION);
  for (const Setting& setting : results.config) {
    pairs += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(setting.key),
                         escape_markup(cell_text(setting.value, {"", "", "g"})));
  }
  return "<h2>Configuration</h2>\n<dl>\n" + pairs + "</dl>\n";
}

}  // namespace

std::string to_html(const Results& results, const Plotter& plotter) {
  check_results(results);
  return head_of(results) +
         fmt::format(
             "<body>\n<main>\n<h1>{}</h1>\n"
             "<pre class=\"scroll\" tabindex=\"0\"><code>{}</code></pre>\n",
             escape_markup(results.title), escape_markup(results.command)) +
         sentences(results.look_for) + figures_of(results, plotter) + tables_of(results) +
         configuration_of(results) + "</main>\n</body>\n</html>\n";
}

}  // namespace normlab::lab
