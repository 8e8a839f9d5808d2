// Tested by tests/experiments/lab/runs/jobs_threads_test.cpp, under ThreadSanitizer too.
#include "experiments/lab/runs/jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

#include "core/check.hpp"
#include "core/kernels/blas.hpp"

namespace normlab {

namespace {

std::atomic<bool> stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may take no lock");

std::vector<std::size_t> costliest_first(const std::vector<Job>& jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].cost > jobs[b].cost; });
  return order;
}

class Queue {
 public:
  Queue(const std::vector<Job>& jobs, const JobProgress& progress)
      : jobs_(jobs), progress_(progress), order_(costliest_first(jobs)) {
    for (const Job& job : jobs) total_ += job.cost;
  }

  void work() {
    while (const Job* job = next()) {
      try {
        job->run();
        finished(*job);
      } catch (...) {
        failed(std::current_exception());
      }
    }
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
    if (started_ < order_.size() && stopped.exchange(false)) throw Interrupted();
  }

 private:
  const Job* next() {
    const std::lock_guard lock(mutex_);
    if (failure_ || stopped || started_ == order_.size()) return nullptr;
    return &jobs_[order_[started_++]];
  }

  void finished(const Job& job) {
    const std::lock_guard lock(mutex_);
    done_ += job.cost;
    if (progress_) progress_(done_, total_);
  }

  void failed(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  const std::vector<Job>& jobs_;
  const JobProgress& progress_;
  const std::vector<std::size_t> order_;
  std::mutex mutex_;  // guards all below
  std::size_t started_ = 0;
  double done_ = 0.0, total_ = 0.0;
  std::exception_ptr failure_;
};

}  // namespace

void stop_jobs() { stopped = true; }

bool stop_was_asked() { return stopped; }

void run_jobs(const std::vector<Job>& jobs, int threads, const JobProgress& progress) {
  check(threads >= 1, "run_jobs", "threads", "must be at least 1",
        [&] { return std::to_string(threads); });
  blas::use_single_thread();
  Queue queue(jobs, progress);
  {
    const auto count = std::min(static_cast<std::size_t>(threads), jobs.size());
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < count; ++i) workers.emplace_back([&queue] { queue.work(); });
  }
  queue.rethrow_failure();
}

}  // namespace normlab
