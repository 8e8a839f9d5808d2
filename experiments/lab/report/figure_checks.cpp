// Whether the parts of a figure fit together. Tested by
// tests/experiments/lab/report/figure_test.cpp, heat_map_test.cpp and panel_test.cpp.
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/report/figure_svg.hpp"

namespace normlab {

namespace {

// `figure` is "figure " and its name, or what it is instead.
void check_described(const std::string& figure, const std::string& name, const std::string& alt) {
  check(!name.empty() &&
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos,
        "report", figure + ": name", "must be of a-z, 0-9 and _", name);
  check(!alt.empty(), "report", figure + ": alt", "must say what one sees", "nothing");
}

void check_series(const std::string& figure, const std::vector<Series>& all) {
  for (const Series& series : all) {
    const std::size_t n = series.x.size();
    const std::size_t of_band = series.kind == Series::Kind::band ? n : 0;
    check(series.y.size() == n && series.low.size() == of_band && series.high.size() == of_band,
          "report", figure + ": series",
          "must have as many y as x, and as many low and high if it is a band", series.name);
  }
}

}  // namespace

void check_figure(const Figure& figure) {
  check_described("figure " + figure.name, figure.name, figure.alt);
  check_series("figure " + figure.name, figure.series);
}

void check_figure(const Panel& panel) {
  const std::string here = "panel " + panel.name;
  check_described(here, panel.name, panel.alt);
  check(!panel.plots.empty(), "report", here + ": plots", "must be one at least", "none");
  std::map<std::string, Series::Kind> kinds;
  for (const Panel::Plot& plot : panel.plots) {
    check_series(here + ": plot " + plot.title, plot.series);
    for (const Series& series : plot.series) {
      check(kinds.emplace(series.name, series.kind).first->second == series.kind, "report",
            here + ": plot " + plot.title + ": series",
            "must be of the same kind wherever they have the same name", series.name);
    }
  }
}

void check_figure(const HeatMap& map) {
  const std::string here = "heat map " + map.name;
  check_described(here, map.name, map.alt);
  check(std::isfinite(map.low) && std::isfinite(map.high) && map.low < map.high, "report",
        here + ": low and high", "must be finite, low below high",
        fmt::format("{} and {}", map.low, map.high));
  check(!map.rows.empty() && !map.columns.empty(), "report", here + ": rows and columns",
        "must be one at least", fmt::format("{} and {}", map.rows.size(), map.columns.size()));
  check(map.cells.size() == map.rows.size(), "report", here + ": cells",
        fmt::format("must have {} rows", map.rows.size()), std::to_string(map.cells.size()));
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const std::string there = here + ": row " + map.rows[row];
    check(map.cells[row].size() == map.columns.size(), "report", there,
          fmt::format("must have {} cells", map.columns.size()),
          std::to_string(map.cells[row].size()));
    for (const HeatMap::Cell& cell : map.cells[row]) {
      check(!std::isfinite(cell.value) || !cell.text.empty(), "report", there,
            "must have a text for every number", fmt::format("none for {}", cell.value));
    }
  }
}

}  // namespace normlab
