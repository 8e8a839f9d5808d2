#pragma once

#include <functional>
#include <string>

#include "experiments/lab/runs/jobs.hpp"

namespace normlab::lab {

// What a program is told of how it is run.
struct Run {
  int threads = 1;
  bool quiet = false;
  std::string resume{};    // the file of --resume, or empty
  JobProgress progress{};  // draws the bar
  // The same with a note, which takes the room of most of the bar.
  std::function<void(double done, double total, const std::string& note)> noted_progress{};
  // A line about the run and not about its results, as the time it took, on standard error.
  std::function<void(const std::string& line)> remark{};
};

}  // namespace normlab::lab
