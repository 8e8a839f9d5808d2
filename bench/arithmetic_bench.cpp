#include "bench/op_bench.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab::bench {

namespace {

// The residual sum.
Var sum(const std::vector<Var>& in) { return in[0] + in[1]; }

void add_forward(benchmark::State& state) {
  const Tensor x = noise({kImages, kTokens, kWidth});
  run_forward(state, {x, x}, sum);
  count_elements(state, x.numel());
}
BENCHMARK(add_forward)->Name("add/forward");

void add_backward(benchmark::State& state) {
  const Tensor x = noise({kImages, kTokens, kWidth});
  run_backward(state, {x, x}, sum);
  count_elements(state, x.numel());
}
BENCHMARK(add_backward)->Name("add/backward");

// The gradient of a bias: columns of dy summed over all tokens.
void bias_gradient(benchmark::State& state) {
  const Tensor dy = noise({kImages, kTokens, state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(sum_to(dy, {state.range(0)}).data());
  count_elements(state, dy.numel());
}
BENCHMARK(bias_gradient)->Name("sum_to/bias")->Arg(kWidth)->Arg(3 * kWidth)->Arg(kFfn);

}  // namespace

}  // namespace normlab::bench
