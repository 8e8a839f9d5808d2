// Also run under ThreadSanitizer.
#include <algorithm>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "core/buffer_pool.hpp"
#include "core/tensor.hpp"

using namespace normlab;

TEST_CASE("buffer pool: threads that work at the same time never share a buffer") {
  constexpr int kThreads = 4;
  std::vector<int> clean(kThreads, 0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&clean, t] {
        bool own = true;
        for (int round = 0; round < 200; ++round) {
          const std::size_t size = 10 + static_cast<std::size_t>(round % 7) * 100;
          const Buffer buffer = acquire_buffer(size);
          std::fill_n(buffer.get(), size, t);
          std::this_thread::yield();
          own = own && std::all_of(buffer.get(), buffer.get() + size,
                                   [t](double value) { return value == t; });
        }
        clean[static_cast<std::size_t>(t)] = own ? 1 : 0;
      });
    }
  }
  CHECK(clean == std::vector<int>(kThreads, 1));
}

TEST_CASE("buffer pool: a buffer may be released on another thread, also as that thread ends") {
  for (int round = 0; round < 20; ++round) {
    Buffer buffer = acquire_buffer(1000);
    buffer[0] = round;
    double seen = -1.0;
    std::jthread([&seen, held = std::move(buffer)]() mutable {
      seen = held[0];
      const Buffer own = acquire_buffer(1000);
      held.reset();
    }).join();
    CHECK(seen == round);
  }
}

TEST_CASE("buffer pool: tensors that threads copy from one another keep their values") {
  const Tensor shared = Tensor::full({50, 3}, 2.0);
  std::vector<double> sums(3, 0.0);
  {
    std::vector<std::jthread> threads;
    for (double& sum : sums) {
      threads.emplace_back([&sum, &shared] {
        for (int round = 0; round < 50; ++round) {
          Tensor copy = shared;
          copy.mutable_data()[0] = round;  // makes the copy's own buffer
          sum += copy.at({0, 0}) + copy.at({49, 2});
        }
      });
    }
  }
  for (const double sum : sums) CHECK(sum == 49.0 * 50.0 / 2.0 + 100.0);
  CHECK(shared.at({0, 0}) == 2.0);
}
