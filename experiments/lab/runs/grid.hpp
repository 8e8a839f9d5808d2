#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/lab/runs/grid_log.hpp"
#include "experiments/lab/runs/run.hpp"

namespace normlab::lab {

// How the points of a grid are computed, and kept in the file of --resume. A point holds its
// configuration and what was measured of it.
template <typename Point>
struct GridSteps {
  std::function<double(const Point&)> cost;  // in any unit; of one part if there are several
  std::function<void(Point&)> measure;
  // For points so large that several threads should share one: how many parts a point has, and what
  // computes one of them, each in a place of its own within the point. `measure` comes after the
  // last part, to join them.
  std::function<int(const Point&)> parts;
  std::function<void(Point&, int part)> measure_part;
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
  std::unique_ptr<GridLog> log;
  if (!run.resume.empty()) log = std::make_unique<GridLog>(run.resume, steps.header);
  std::mutex one_at_a_time;
  std::vector<Job> jobs;
  for (Point& point : points) {
    const auto read = [&](const nlohmann::ordered_json& measured) { steps.read(measured, point); };
    if (log && log->read(steps.key(point), read)) continue;
    const int parts = steps.parts ? steps.parts(point) : 1;
    const auto missing = std::make_shared<std::atomic<int>>(parts);
    for (int part = 0; part < parts; ++part) {
      jobs.push_back({steps.cost(point), [&, missing, part] {
                        if (steps.measure_part) steps.measure_part(point, part);
                        if (--*missing > 0) return;
                        steps.measure(point);
                        if (!log) return;
                        const std::lock_guard lock(one_at_a_time);
                        log->append(steps.key(point), steps.write(point));
                      }});
    }
  }
  run_jobs(jobs, run.threads, run.progress);
}

}  // namespace normlab::lab
