// That a training step asks nothing of the system once it is warm: neither for tensors, which the
// buffer pool counts, nor for the rest (nodes, names, closures), of which malloc tells how much it
// holds. Under the sanitizers malloc is theirs and tells nothing.
#include <doctest/doctest.h>
#include <malloc.h>

#include "core/buffer_pool.hpp"
#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"

using namespace normlab;

namespace {

constexpr int kWarmUp = 50, kMeasured = 50;  // an epoch of 45 steps ends in both

// Bytes that malloc has from the system, for all threads.
std::size_t bytes_from_system() {
  const struct mallinfo2 info = mallinfo2();
  return info.arena + info.hblkhd;
}

void check_steady(const char* optimizer, double dropout, int threads) {
  TrainDigitsOptions options;
  options.training.optimizer = optimizer;
  options.training.dropout = dropout;
  options.layers = 1;
  options.width = 16;
  Trainer trainer(digits_task(options, load_digits()), options.training, threads);
  for (int i = 0; i < kWarmUp; ++i) trainer.step();
  const PoolStatistics warm = pool_statistics();
  const std::size_t bytes = bytes_from_system();
  for (int i = 0; i < kMeasured; ++i) {
    trainer.step();
    CHECK(bytes_from_system() == bytes);
  }
  CHECK_FALSE(trainer.diverged());
  CHECK(pool_statistics().system_allocations == warm.system_allocations);  // of this thread
  CHECK(pool_statistics().reused > warm.reused + 1000);
}

}  // namespace

TEST_CASE("train_digits: steps of a warm run allocate nothing from the system") {
  check_steady("radam", 0.0, 1);
  check_steady("adamw", 0.1, 1);
  check_steady("adamw", 0.1, 2);
}
