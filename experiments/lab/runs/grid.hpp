#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/lab/runs/cell_log.hpp"
#include "experiments/lab/runs/run.hpp"

namespace normlab::lab {

// How the points of a grid are computed, and kept in the file of --resume. A point holds its
// configuration and what was measured of it.
template <typename Point>
struct GridSteps {
  std::function<double(const Point&)> cost;  // in any unit
  std::function<void(Point&)> measure;
  nlohmann::ordered_json header;  // what all points of a file have in common
  std::function<nlohmann::ordered_json(const Point&)> key;    // the configuration
  std::function<nlohmann::ordered_json(const Point&)> write;  // what was measured
  // Reads that back; throws std::runtime_error for anything else.
  std::function<void(const nlohmann::ordered_json&, Point&)> read;
};

// Measures every point that the file of --resume does not hold, in parallel, and notes each there
// as soon as it is done. The result does not depend on the number of threads.
template <typename Point>
void run_grid(std::vector<Point>& points, const Run& run, const GridSteps<Point>& steps) {
  std::unique_ptr<CellLog> log;
  if (!run.resume.empty()) log = std::make_unique<CellLog>(run.resume, steps.header);
  std::mutex one_at_a_time;
  std::vector<Job> jobs;
  for (Point& point : points) {
    const nlohmann::ordered_json* known = log ? log->find(steps.key(point)) : nullptr;
    if (known != nullptr) {
      log->read([&] { steps.read(*known, point); });
      continue;
    }
    jobs.push_back({steps.cost(point), [&] {
                      steps.measure(point);
                      if (!log) return;
                      const std::lock_guard lock(one_at_a_time);
                      log->append(steps.key(point), steps.write(point));
                    }});
  }
  run_jobs(jobs, run.threads, run.progress);
}

}  // namespace normlab::lab
