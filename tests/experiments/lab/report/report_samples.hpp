#pragma once

#include <limits>
#include <string>

#include "experiments/lab/report/figure_files.hpp"

namespace normlab {

// Text that would break a page, a gnuplot script or a shell if it were pasted as it is.
inline const std::string kHostile =
    "<b onload=\"x\">&amp; it's `touch pwned` $(id) \"q\" \\n {/Bold x}_2 ' ; set output 'pwned'";

inline Figure sample_figure(const std::string& name) {
  return {name,
          "Title of " + name,
          "depth",
          "size",
          true,
          true,
          {{"measured", Series::Kind::band, {6, 12, 24}, {2, 1.5, 1}, {1, 1, 0.5}, {3, 2, 2}},
           {"dots", Series::Kind::points, {6, 24}, {1, 3}},
           {"theory", Series::Kind::theory, {6, 24}, {2, 1}}},
          "Alt text of " + name,
          "Caption of " + name};
}

// A number, a run that diverged, a cell without a run, a number.
inline HeatMap sample_heat_map(const std::string& name) {
  return {
      name,
      "Title of " + name,
      "warmup",
      "rate",
      {"0", "400"},
      {"1e-3", "1e-2"},
      {{{97.2, "97.2"}, {std::numeric_limits<double>::quiet_NaN(), "div"}}, {{}, {55.5, "55.5"}}},
      10,
      100,
      "accuracy, %",
      "Alt text of " + name,
      "Caption of " + name};
}

// The last plot has nothing to draw.
inline Panel sample_panel(const std::string& name) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {name,
          "Title of " + name,
          "epoch",
          "loss",
          false,
          false,
          {{"cold",
            {{"slow", Series::Kind::line, {1, 2}, {9, 8}},
             {"fast", Series::Kind::line, {1, 2}, {9, nan}}}},
           {"warm",
            {{"fast", Series::Kind::line, {1, 2, 3}, {6, 3, 2}},
             {"chance", Series::Kind::theory, {1, 3}, {5, 5}}}},
           {"empty", {{"slow", Series::Kind::line, {1}, {nan}}}}},
          "Alt text of " + name,
          "Caption of " + name};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Only with gnuplot is there a drawing to look at; without it a test says so and checks that the
// reason is given.
inline bool gnuplot_is_missing() { return !run_gnuplot({}, "").problem.empty(); }

}  // namespace normlab
