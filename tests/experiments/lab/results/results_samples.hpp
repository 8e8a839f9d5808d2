#pragma once

#include <limits>

#include "experiments/lab/results/results.hpp"

namespace normlab::lab {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A table of every kind of number that is shown, with a row of what there is not.
inline Results sample_results() {
  Results results{.title = "Sizes of <norms>", .heading = "width 8, seeds [0, 1]"};
  results.experiment = "sizes";
  results.command = "sizes --width 8";
  results.config = {{"width", "width d", std::int64_t{8}},
                    {"seeds", "seeds", std::vector<std::uint64_t>{0, 1}}};
  results.tables = {
      {.key = "sizes",
       .title = "Sizes",
       .columns = {{.key = "norm", .title = "norm"},
                   {.key = "layers", .title = "L"},
                   {.key = "size", .title = "size", .format = ".2f"},
                   {.key = "ratio", .title = "ratio", .meaning = "last to first"},
                   {.key = "slope", .title = "slope", .format = ".1f"}},
       .rows = {
           {"layernorm", std::int64_t{3}, 1.005, Spread{2.5, 2.25, 4.75}, Estimate{-0.25, 0.5}},
           {"dyt", std::int64_t{12}, kNaN, Spread{kNaN, kNaN, kNaN}, std::monostate()}}}};
  return results;
}

}  // namespace normlab::lab
