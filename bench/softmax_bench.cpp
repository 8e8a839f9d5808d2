#include "bench/op_bench.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/softmax.hpp"

namespace normlab::bench {

namespace {

constexpr std::int64_t kClasses = 10;

// The rows of attention's weights: 16 images, 4 heads, 16 queries, 16 keys.
const Shape& scores() {
  static const Shape shape{kImages, kHeads, kTokens, kTokens};
  return shape;
}

Var of_rows(const std::vector<Var>& in) { return softmax(in[0]); }

void softmax_forward(benchmark::State& state) {
  run_forward(state, {noise(scores())}, of_rows);
  count_elements(state, scores().numel());
}
BENCHMARK(softmax_forward)->Name("softmax/forward");

void softmax_backward(benchmark::State& state) {
  run_backward(state, {noise(scores())}, of_rows);
  count_elements(state, scores().numel());
}
BENCHMARK(softmax_backward)->Name("softmax/backward");

Var loss(const std::vector<Var>& in) {
  std::vector<std::int64_t> targets(static_cast<std::size_t>(kRows));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::int64_t>(i) % 10;
  return cross_entropy(in[0], targets);
}

void cross_entropy_forward(benchmark::State& state) {
  run_forward(state, {noise({kRows, kClasses})}, loss);
  count_elements(state, kRows * kClasses);
}
BENCHMARK(cross_entropy_forward)->Name("cross_entropy/forward");

void cross_entropy_backward(benchmark::State& state) {
  run_backward(state, {noise({kRows, kClasses})}, loss);
  count_elements(state, kRows * kClasses);
}
BENCHMARK(cross_entropy_backward)->Name("cross_entropy/backward");

}  // namespace

}  // namespace normlab::bench
