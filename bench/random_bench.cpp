#include "bench/op_bench.hpp"

namespace normlab::bench {

namespace {

// The weights of one linear layer of the block.
void randn(benchmark::State& state) {
  Generator generator(1);
  for (auto _ : state) benchmark::DoNotOptimize(generator.randn({kFfn, kWidth}).data());
  count_elements(state, kFfn * kWidth);
}
BENCHMARK(randn);

}  // namespace

}  // namespace normlab::bench
