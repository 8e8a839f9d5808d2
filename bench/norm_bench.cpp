#include "bench/op_bench.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/rms_norm.hpp"

namespace normlab::bench {

namespace {

Var layer(const std::vector<Var>& in) { return layer_norm(in[0], in[1].shape(), in[1], in[2]); }
Var rms(const std::vector<Var>& in) { return rms_norm(in[0], in[1].shape(), in[1]); }

using Norm = Var (*)(const std::vector<Var>&);

// x (16, 16, d) with gain and bias; Arg: d.
std::vector<Tensor> leaves(std::int64_t width) {
  return {noise({kImages, kTokens, width}), noise({width}), noise({width})};
}

void forward(benchmark::State& state, Norm norm) {
  run_forward(state, leaves(state.range(0)), norm);
  count_elements(state, kRows * state.range(0));
}

void backward(benchmark::State& state, Norm norm) {
  run_backward(state, leaves(state.range(0)), norm);
  count_elements(state, kRows * state.range(0));
}

BENCHMARK_CAPTURE(forward, layer_norm, layer)->Name("layer_norm/forward")->Arg(kWidth)->Arg(1024);
BENCHMARK_CAPTURE(backward, layer_norm, layer)->Name("layer_norm/backward")->Arg(kWidth)->Arg(1024);
BENCHMARK_CAPTURE(forward, rms_norm, rms)->Name("rms_norm/forward")->Arg(kWidth)->Arg(1024);
BENCHMARK_CAPTURE(backward, rms_norm, rms)->Name("rms_norm/backward")->Arg(kWidth)->Arg(1024);

}  // namespace

}  // namespace normlab::bench
