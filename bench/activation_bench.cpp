#include "bench/op_bench.hpp"
#include "core/ops/activation.hpp"

namespace normlab::bench {

namespace {

using Activation = Var (*)(const Var&);

// On the hidden layer of the feed-forward network, (256, 256).
void forward(benchmark::State& state, Activation activation) {
  const Tensor x = noise({kRows, kFfn});
  run_forward(state, {x}, [=](const std::vector<Var>& in) { return activation(in[0]); });
  count_elements(state, x.numel());
}

void backward(benchmark::State& state, Activation activation) {
  const Tensor x = noise({kRows, kFfn});
  run_backward(state, {x}, [=](const std::vector<Var>& in) { return activation(in[0]); });
  count_elements(state, x.numel());
}

BENCHMARK_CAPTURE(forward, relu, relu)->Name("relu/forward");
BENCHMARK_CAPTURE(backward, relu, relu)->Name("relu/backward");
BENCHMARK_CAPTURE(forward, gelu, gelu)->Name("gelu/forward");
BENCHMARK_CAPTURE(backward, gelu, gelu)->Name("gelu/backward");

}  // namespace

}  // namespace normlab::bench
