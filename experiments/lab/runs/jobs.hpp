#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace normlab {

// One independent piece of an experiment. It writes its result to a place of its own, so that what
// is printed afterwards does not depend on the order in which jobs ended.
struct Job {
  double cost;  // in any unit; for the order of starting and the time left
  std::function<void()> run;
};

// Told after every job, one call at a time: the cost done so far and the total.
using JobProgress = std::function<void(double done, double total)>;

// Runs every job once on this many threads, the costliest first so that no long one is left to the
// end. BLAS is set to one thread: the parallelism is here, and results cannot depend on it. If jobs
// throw, no further ones are started, and the first exception is rethrown once all threads ended.
// Throws Interrupted once the jobs under way have ended, if stop_jobs was called.
void run_jobs(const std::vector<Job>& jobs, int threads, const JobProgress& progress = {});

// From now on no job is started, until a run_jobs has thrown Interrupted. May be called by a signal
// handler.
void stop_jobs();
// Whether it was called, for long work that is no job.
bool stop_was_asked();

class Interrupted : public std::runtime_error {
 public:
  // `what` says how to go on, where the shell of the program does not know.
  explicit Interrupted(const std::string& what = {}) : std::runtime_error(what) {}
};

}  // namespace normlab
