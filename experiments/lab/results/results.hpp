#pragma once

#include <string>
#include <vector>

#include "experiments/lab/report/figure.hpp"
#include "experiments/lab/results/table.hpp"

namespace normlab::lab {

// The value of one option, as JSON and page show it.
struct Setting {
  std::string key, help;
  Cell value;
};

// What an experiment found, described once. Text, JSON and page are made from it; every text in it
// is plain.
struct Results {
  std::string title;                    // of the page
  std::string heading{};                // sizes and seeds in a line or two, on top of the text
  std::vector<std::string> look_for{};  // sentences, on the page
  std::vector<Table> tables{};
  std::vector<Figure> figures{};
  std::vector<HeatMap> heat_maps{};  // on the page they come before the figures,
  std::vector<Panel> panels{};       // and these after them

  // In place of heading and tables in the text, for a layout that was published elsewhere.
  std::string text{};

  // What the shell of the program ends with. A message goes to standard error.
  int exit_code = 0;
  std::string exit_message{};

  // Settings that follow from the options, or that stand in place of the option of the same key.
  // The shell of the program puts the options before them.
  std::vector<Setting> config{};

  // Filled in by the shell of the program.
  std::string experiment{}, command{};
};

// 80 columns wide where the tables are.
std::string to_text(const Results& results);

// One object for every program:
//   {"experiment", "version", "config": {key: value}, "tables": {key: [row, ...]}}
// A row is an object of its columns' keys. A Spread is {"median", "min", "max"}; an Estimate stands
// under its key and <key>_standard_error. Numbers have the digits that read the same double back;
// those that are not finite are "inf", "-inf" and "nan"; null is what there is not.
std::string to_json(const Results& results);

// One page: no script, nothing fetched, readable on a phone, in light and dark. The same results
// give the same bytes (with the same gnuplot). Without gnuplot the page says how to get it and
// keeps everything else. Throws std::invalid_argument if parts of the results do not fit together.
std::string to_html(const Results& results, const Plotter& plotter = {});

}  // namespace normlab::lab
