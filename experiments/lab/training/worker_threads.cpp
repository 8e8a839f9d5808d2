// Tested by tests/experiments/train_digits/train_digits_threads_test.cpp, under ThreadSanitizer
// too.
#include "experiments/lab/training/worker_threads.hpp"

#include <string>

#include "core/check.hpp"
#include "core/kernels/blas.hpp"

namespace normlab {

WorkerThreads::WorkerThreads(int threads) : workers_(static_cast<std::size_t>(threads)) {
  check(threads >= 1, "WorkerThreads", "threads", "must be at least 1",
        [&] { return std::to_string(threads); });
  blas::use_single_thread();
  for (std::size_t worker = 1; worker < workers_; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begins_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::for_each(std::size_t count, const std::function<void(std::size_t)>& f) {
  {
    const std::lock_guard lock(mutex_);
    count_ = count;
    f_ = &f;
    failures_.assign(count, nullptr);
    working_ = threads_.size();
    ++round_;
  }
  begins_.notify_all();
  do_share(0);
  {
    std::unique_lock lock(mutex_);
    ends_.wait(lock, [this] { return working_ == 0; });
  }
  for (const std::exception_ptr& each : failures_) {
    if (each) std::rethrow_exception(each);
  }
}

void WorkerThreads::serve(std::size_t worker) {
  for (std::uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      begins_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    do_share(worker);
    {
      const std::lock_guard lock(mutex_);
      --working_;
    }
    ends_.notify_one();
  }
}

void WorkerThreads::do_share(std::size_t worker) {
  for (std::size_t i = worker; i < count_; i += workers_) {
    try {
      (*f_)(i);
    } catch (...) {
      failures_[i] = std::current_exception();
    }
  }
}

}  // namespace normlab
