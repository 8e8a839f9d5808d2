#include "core/buffer_pool.hpp"

#include <thread>
#include <utility>

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
