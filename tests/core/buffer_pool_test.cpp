#include "core/buffer_pool.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "core/random.hpp"

namespace normlab {
namespace {

TEST_CASE("buffer_pool: a released buffer serves the next request of its size class") {
  trim_pool();
  const double* first = acquire_buffer(1000).get();
  const PoolStatistics before = pool_statistics();
  const Buffer again = acquire_buffer(1000);
  CHECK(again.get() == first);
  CHECK(pool_statistics().reused == before.reused + 1);
  CHECK(pool_statistics().system_allocations == before.system_allocations);
  CHECK(before.idle_bytes >= 8000);
  CHECK(before.idle_bytes <= 9000);  // a class wastes an eighth at most
  CHECK(pool_statistics().idle_bytes == 0);
}

TEST_CASE("buffer_pool: buffers in use at the same time are distinct") {
  const Buffer a = acquire_buffer(100), b = acquire_buffer(100);
  for (int i = 0; i < 100; ++i) a[i] = 1.0;
  for (int i = 0; i < 100; ++i) b[i] = 2.0;
  CHECK(a[0] == 1.0);
  CHECK(a[99] == 1.0);
}

TEST_CASE("buffer_pool: a class is never smaller than the request") {
  for (std::size_t doubles = 0; doubles < 700; ++doubles) {
    const Buffer buffer = acquire_buffer(doubles);  // AddressSanitizer sees a write past the end
    for (std::size_t i = 0; i < doubles; ++i) buffer[static_cast<std::ptrdiff_t>(i)] = 1.0;
    REQUIRE(buffer != nullptr);
  }
  trim_pool();
}

TEST_CASE("buffer_pool: trimming returns the idle buffers") {
  { const Buffer buffer = acquire_buffer(5000); }
  CHECK(pool_statistics().idle_bytes >= 40000);
  trim_pool();
  CHECK(pool_statistics().idle_bytes == 0);
  const std::size_t before = pool_statistics().system_allocations;
  const Buffer buffer = acquire_buffer(5000);
  CHECK(pool_statistics().system_allocations == before + 1);
}

TEST_CASE("buffer_pool: after warm-up a training loop allocates nothing from the system") {
  Generator generator(1);
  Parameter weight{"weight", generator.randn({48, 32})}, bias{"bias", generator.randn({48})};
  const Tensor images = generator.randn({20, 32});
  const auto step = [&] {
    Tape tape;
    const Var h = linear(tape.constant(images), tape.watch(weight), tape.watch(bias));
    weight.zero_grad();
    bias.zero_grad();
    tape.backward(mean(layer_norm(h, {48}) * h));
  };
  for (int i = 0; i < 3; ++i) step();
  const PoolStatistics warm = pool_statistics();
  for (int i = 0; i < 50; ++i) step();
  CHECK(pool_statistics().system_allocations == warm.system_allocations);
  CHECK(pool_statistics().reused > warm.reused + 500);
  CHECK(pool_statistics().idle_bytes == warm.idle_bytes);
}

// A thread of its own starts with an empty pool and no peak.
void on_new_thread(const std::function<void()>& f) { std::thread(f).join(); }

TEST_CASE("buffer_pool: a request may get a buffer that is larger by up to a half") {
  trim_pool();
  const double* large = acquire_buffer(1400).get();
  CHECK(acquire_buffer(1000).get() == large);
  const std::size_t before = pool_statistics().system_allocations;
  const Buffer much_smaller = acquire_buffer(600);
  CHECK(pool_statistics().system_allocations == before + 1);
}

TEST_CASE("buffer_pool: uneven sizes hold at most 1.5 times the peak in use") {
  on_new_thread([] {
    std::size_t most = 0;
    Generator generator(3);
    for (int batch = 0; batch < 300; ++batch) {  // each of another size, like sentences
      const auto size = static_cast<std::size_t>(20000 + generator.randint(200000));
      std::vector<Buffer> in_use;
      for (std::size_t i = 0; i < 10; ++i) in_use.push_back(acquire_buffer(size + 1000 * i));
      in_use.clear();
      most = std::max(most, pool_statistics().idle_bytes);
    }
    const PoolStatistics end = pool_statistics();
    CHECK(most <= end.peak_bytes + end.peak_bytes / 2);
    CHECK(end.peak_bytes >= 10 * 8 * 200000);
    CHECK(end.reused > end.system_allocations);
  });
}

TEST_CASE("buffer_pool: what a thread only releases is not hoarded") {
  std::vector<Buffer> made_here;
  for (int i = 0; i < 20; ++i) made_here.push_back(acquire_buffer(100000));
  on_new_thread([&] {
    made_here.clear();
    CHECK(pool_statistics().idle_bytes <= std::size_t{1} << 20);
  });
}

TEST_CASE("buffer_pool: more than the system has is refused") {
  CHECK_THROWS_AS(acquire_buffer(std::numeric_limits<std::size_t>::max() / 8), std::bad_alloc);
  CHECK_THROWS_AS(acquire_buffer(std::size_t{1} << 61), std::bad_alloc);
}

TEST_CASE("buffer_pool: a buffer released on another thread joins that thread's lists") {
  trim_pool();
  Buffer made_here = acquire_buffer(3000);
  const double* address = made_here.get();
  const double* seen_there = nullptr;
  std::size_t idle_there = 0;
  std::thread([&, buffer = std::move(made_here)]() mutable {
    buffer.reset();
    idle_there = pool_statistics().idle_bytes;
    seen_there = acquire_buffer(3000).get();
  }).join();
  CHECK(idle_there >= 24000);
  CHECK(seen_there == address);
  CHECK(pool_statistics().idle_bytes == 0);
}

// Thread-local objects die in reverse order of construction; this one outlives the free lists.
struct LateOwner {
  Buffer buffer;
};

TEST_CASE("buffer_pool: a buffer may outlive its thread, and its thread's free lists") {
  Buffer survivor;
  std::thread([&] {
    thread_local LateOwner late;  // constructed before this thread first touches the pool
    late.buffer = acquire_buffer(100);
    survivor = acquire_buffer(200);
    survivor[199] = 7.0;
  }).join();
  CHECK(survivor[199] == 7.0);
  const std::size_t idle = pool_statistics().idle_bytes;
  survivor.reset();
  CHECK(pool_statistics().idle_bytes >= idle + 1600);
}

}  // namespace
}  // namespace normlab
