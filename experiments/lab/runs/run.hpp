#pragma once

#include <string>

#include "experiments/lab/runs/jobs.hpp"

namespace normlab::lab {

// What a program is told of how it is run.
struct Run {
  int threads = 1;
  bool quiet = false;
  std::string resume{};    // the file of --resume, or empty
  JobProgress progress{};  // draws the bar
};

}  // namespace normlab::lab
