#pragma once

#include <vector>

#include <benchmark/benchmark.h>

#include "core/random.hpp"
#include "core/tape.hpp"

// How every case measures an op: on tensors of the size of one slice of init_gradients, 16 images
// of 16 tokens, through the tape, as the experiment calls it.
namespace normlab::bench {

inline constexpr std::int64_t kImages = 16, kTokens = 16, kRows = kImages * kTokens;
inline constexpr std::int64_t kWidth = 64, kHeads = 4, kFfn = 256;

inline Tensor noise(const Shape& shape) {
  Generator generator(1);
  return generator.randn(shape);
}

// `op` makes a Var from the leaves.
template <typename Op>
void run_forward(benchmark::State& state, const std::vector<Tensor>& leaves, Op op) {
  for (auto _ : state) {
    Tape tape;
    std::vector<Var> vars;
    for (const Tensor& leaf : leaves) vars.push_back(tape.variable(leaf));
    benchmark::DoNotOptimize(op(vars).value().data());
  }
}

// The reverse pass alone: recorded once, then run again and again.
template <typename Op>
void run_backward(benchmark::State& state, const std::vector<Tensor>& leaves, Op op) {
  Tape tape;
  std::vector<Var> vars;
  for (const Tensor& leaf : leaves) vars.push_back(tape.variable(leaf));
  const Var y = op(vars);
  const Tensor seed = noise(y.shape());
  for (auto _ : state) tape.backward(y, seed);
}

// Shown as "elements": numbers of the main input per second.
inline void count_elements(benchmark::State& state, std::int64_t per_iteration) {
  state.SetItemsProcessed(state.iterations() * per_iteration);
}

// Shown as "FLOP/s": multiplications and additions of the matrix products.
inline void count_flops(benchmark::State& state, std::int64_t per_iteration) {
  state.counters["FLOP/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * per_iteration), benchmark::Counter::kIsRate);
}

}  // namespace normlab::bench
