#include "bench/op_bench.hpp"
#include "core/ops/attention.hpp"

namespace normlab::bench {

namespace {

Var attend(const std::vector<Var>& in) { return self_attention(in[0], kHeads).output; }

// Arg: tokens of a sequence, with as many sequences as keep 256 tokens in all.
Tensor packed_qkv(std::int64_t tokens) { return noise({kRows / tokens, tokens, 3 * kWidth}); }

std::int64_t product_flops(std::int64_t tokens) { return 2 * kRows * tokens * kWidth; }

void attention_forward(benchmark::State& state) {
  run_forward(state, {packed_qkv(state.range(0))}, attend);
  count_flops(state, 2 * product_flops(state.range(0)));
}
BENCHMARK(attention_forward)->Name("attention/forward")->Arg(kTokens)->Arg(64)->Arg(256);

void attention_backward(benchmark::State& state) {
  run_backward(state, {packed_qkv(state.range(0))}, attend);
  count_flops(state, 4 * product_flops(state.range(0)));
}
BENCHMARK(attention_backward)->Name("attention/backward")->Arg(kTokens)->Arg(64)->Arg(256);

}  // namespace

}  // namespace normlab::bench
