// Where the set-up of a BLAS call stops to cost more than it gains: kSmallProduct in
// core/kernels/attention_head.cpp is read off here.
#include "bench/op_bench.hpp"
#include "core/kernels/blas.hpp"
#include "core/kernels/small_matmul.hpp"

namespace normlab::bench {

namespace {

// Three n x n matrices with the row stride that heads have inside packed q, k, v.
struct Square {
  std::int64_t n, stride;
  Tensor a, b, c;

  explicit Square(std::int64_t side)
      : n(side),
        stride(3 * std::max(kWidth, side)),
        a(noise({n, stride})),
        b(noise({n, stride})),
        c(Tensor::uninitialized({n, stride})) {}
};

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (std::int64_t n : {8, 16, 24, 32, 48, 64, 96, 128}) benchmark->Arg(n);
}

void small(benchmark::State& state) {
  Square s(state.range(0));
  double* c = s.c.mutable_data();
  for (auto _ : state) {
    small_matmul(s.n, s.n, s.n, 1.0, s.a.data(), s.stride, 1, s.b.data(), s.stride, c, s.stride);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2 * s.n * s.n * s.n);
}
BENCHMARK(small)->Name("product/small_matmul")->Apply(sizes);

void transposed(benchmark::State& state) {
  Square s(state.range(0));
  double* c = s.c.mutable_data();
  for (auto _ : state) {
    small_matmul(s.n, s.n, s.n, 1.0, s.a.data(), 1, s.stride, s.b.data(), s.stride, c, s.stride);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2 * s.n * s.n * s.n);
}
BENCHMARK(transposed)->Name("product/small_matmul_of_transpose")->Apply(sizes);

void gemm(benchmark::State& state) {
  blas::use_single_thread();
  Square s(state.range(0));
  double* c = s.c.mutable_data();
  for (auto _ : state) {
    blas::gemm(s.n, s.n, s.n, {s.a.data(), s.stride}, {s.b.data(), s.stride}, c, s.stride);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2 * s.n * s.n * s.n);
}
BENCHMARK(gemm)->Name("product/gemm")->Apply(sizes);

}  // namespace

}  // namespace normlab::bench
