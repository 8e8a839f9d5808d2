#include "bench/op_bench.hpp"
#include "core/kernels/blas.hpp"
#include "core/ops/linear.hpp"

namespace normlab::bench {

namespace {

// Args: in, out. The block's four linear layers: in_proj, out_proj, linear1, linear2.
void block_layers(benchmark::internal::Benchmark* benchmark) {
  for (const auto& [in, out] : {std::pair{kWidth, 3 * kWidth}, std::pair{kWidth, kWidth},
                                std::pair{kWidth, kFfn}, std::pair{kFfn, kWidth}}) {
    benchmark->Args({in, out});
  }
}

std::vector<Tensor> leaves(const benchmark::State& state) {
  const std::int64_t in = state.range(0), out = state.range(1);
  return {noise({kImages, kTokens, in}), noise({out, in}), noise({out})};
}

Var apply(const std::vector<Var>& in) { return linear(in[0], in[1], in[2]); }

std::int64_t product_flops(const benchmark::State& state) {
  return 2 * kRows * state.range(0) * state.range(1);
}

void linear_forward(benchmark::State& state) {
  blas::use_single_thread();
  run_forward(state, leaves(state), apply);
  count_flops(state, product_flops(state));
}
BENCHMARK(linear_forward)->Name("linear/forward")->Apply(block_layers);

void linear_backward(benchmark::State& state) {
  blas::use_single_thread();
  run_backward(state, leaves(state), apply);
  count_flops(state, 2 * product_flops(state));
}
BENCHMARK(linear_backward)->Name("linear/backward")->Apply(block_layers);

}  // namespace

}  // namespace normlab::bench
