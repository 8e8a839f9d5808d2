#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace normlab {

// Threads that stay, for work that comes in many short rounds, such as the slices of a training
// batch. Piece i is always done by the same thread, so that the buffers it released in one round
// are there for it in the next (core/buffer_pool.hpp). BLAS is set to one thread.
class WorkerThreads {
 public:
  // The caller's thread is one of them: with 1, no other is started.
  explicit WorkerThreads(int threads);
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // Calls f(0), ..., f(count - 1) and returns when all have ended. If pieces throw, the exception
  // of the first of them, by number, is rethrown.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& f);

 private:
  void serve(std::size_t worker);
  void do_share(std::size_t worker);

  std::size_t workers_;
  std::mutex mutex_;  // guards round_, working_ and stopping_
  std::condition_variable begins_, ends_;
  std::uint64_t round_ = 0;
  std::size_t working_ = 0;
  bool stopping_ = false;
  // Of the round: set before it begins.
  std::size_t count_ = 0;
  const std::function<void(std::size_t)>* f_ = nullptr;
  std::vector<std::exception_ptr> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace normlab
