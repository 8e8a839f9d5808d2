// Long chains and repeated use: neither recursion nor a walk over paths would survive these.
#include <functional>

#include <doctest/doctest.h>
#include <pthread.h>

#include "core/ops/arithmetic.hpp"
#include "core/tape.hpp"

namespace normlab {
namespace {

// Runs `work` on a thread with a stack of 256 KiB, a quarter of a byte for each node of a chain of
// a million.
void run_on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("tape: a chain of 10^6 nodes runs and is freed on a stack of 256 KiB") {
  constexpr int kNodes = 1000000;
  double value = 0.0, gradient = 0.0;
  std::size_t size = 0;
  run_on_small_stack([&] {
    Tape tape;
    const Var x = tape.variable(Tensor::scalar(1));
    Var y = x;
    for (int i = 0; i < kNodes; ++i) y = y + 1.0;
    tape.backward(y);
    value = y.value().item();
    gradient = x.grad().item();
    size = tape.size();
  });
  CHECK(value == kNodes + 1);
  CHECK(gradient == 1);
  CHECK(size == kNodes + 1);
}

TEST_CASE("tape: doubling 60 times visits 60 nodes and gives 2^60") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(1));
  Var y = x;
  for (int i = 0; i < 60; ++i) y = y + y;
  CHECK(tape.size() == 61);
  tape.backward(y);
  CHECK(y.value().item() == 0x1p60);
  CHECK(x.grad().item() == 0x1p60);
}

TEST_CASE("tape: a closure is called once in a pass, however often its result was used") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(1));
  int calls = 0;
  const Adjoint dx(x);
  Var y = record("counted", Tensor::scalar(1), {x}, [&](const Tensor& dy) {
    ++calls;
    dx += dy;
  });
  for (int i = 0; i < 10; ++i) y = y + y;
  tape.backward(y);
  CHECK(calls == 1);
  CHECK(x.grad().item() == 1024);
}

}  // namespace
}  // namespace normlab
