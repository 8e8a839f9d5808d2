#include <atomic>
#include <stdexcept>

#include <doctest/doctest.h>

#include "experiments/lab/training/trainer.hpp"
#include "experiments/lab/training/worker_threads.hpp"
#include "experiments/tasks/digits_task.hpp"

using namespace normlab;

TEST_CASE("WorkerThreads: every piece is done once a round, on the same thread in each") {
  for (const int count : {1, 2, 3, 8}) {
    WorkerThreads threads(count);
    std::vector<std::thread::id> first(7), again(7);
    std::atomic<int> done = 0;
    threads.for_each(7, [&](std::size_t i) {
      first[i] = std::this_thread::get_id();
      ++done;
    });
    for (int round = 0; round < 200; ++round) {
      threads.for_each(7, [&](std::size_t i) {
        again[i] = std::this_thread::get_id();
        ++done;
      });
      REQUIRE(again == first);
    }
    CHECK(done == 7 * 201);
    threads.for_each(0, [](std::size_t) { FAIL("nothing to do"); });
  }
}

TEST_CASE("WorkerThreads: the exception of the first piece arrives, and the threads go on") {
  WorkerThreads threads(3);
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS_WITH_AS(threads.for_each(6,
                                          [](std::size_t i) {
                                            if (i >= 2) throw std::runtime_error(std::to_string(i));
                                          }),
                         "2", std::runtime_error);
  }
  CHECK_THROWS_AS(WorkerThreads(0), std::invalid_argument);
}

TEST_CASE("train_digits: the same bytes on any number of threads") {
  TrainDigitsOptions options;
  options.layers = 1;
  options.width = 8;
  options.training.warmup = 2;
  options.training.epochs = 2;
  options.training.batch_size = 64;
  options.training.dropout = 0.1;
  const Digits digits = load_digits().range(0, 125);
  std::string expected;
  for (const char* norm : {"layernorm", "batchnorm"}) {
    options.norm = norm;
    for (const int threads : {1, 2, 3, 5}) {
      CAPTURE(threads);
      Trainer trainer(digits_task(options, digits), options.training, threads);
      while (trainer.steps_done() < trainer.steps()) {
        trainer.step();
        if (trainer.at_end_of_epoch()) trainer.end_epoch();
      }
      const std::string bytes = to_safetensors(trainer.checkpoint());
      if (threads == 1) expected = bytes;
      CHECK(bytes == expected);
    }
  }
}
