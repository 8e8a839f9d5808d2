// Results as a page. Tested by tests/experiments/lab/results/to_html_test.cpp.
#include "experiments/lab/report/report.hpp"
#include "experiments/lab/results/results.hpp"

namespace normlab::lab {

namespace {

bool on_page(Shown shown) {
  return shown == Shown::everywhere || shown == Shown::on_page_and_in_json ||
         shown == Shown::in_text_and_on_page;
}

normlab::Table shown_table(const Table& table) {
  check_table(table);
  normlab::Table shown{table.title, {}, std::vector<std::vector<std::string>>(table.rows.size())};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!on_page(column.shown)) continue;
    shown.header.push_back(column.title);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      shown.rows[row].push_back(cell_text(table.rows[row][i], column));
    }
  }
  return shown;
}

}  // namespace

std::string to_html(const Results& results, const Plotter& plotter) {
  Report report{results.title,     results.command, {{"normlab", NORMLAB_VERSION}},
                results.look_for,  results.figures, {},
                results.heat_maps, results.panels};
  for (const Setting& setting : results.config) {
    report.configuration.emplace_back(setting.key, cell_text(setting.value, {"", "", "g"}));
  }
  for (const Table& table : results.tables) {
    if (on_page(table.shown)) report.tables.push_back(shown_table(table));
  }
  return html_of(report, plotter);
}

}  // namespace normlab::lab
