// docs/architecture.md: a query that may attend to nothing.
#include <limits>

#include <fmt/format.h>

#include "core/ops/attention.hpp"

using namespace normlab;

int main() {
  constexpr double kForbidden = -std::numeric_limits<double>::infinity();
  Tape tape;
  const Var q = tape.variable(Tensor({1, 2, 1}, {1, 1}));
  const Var k = tape.variable(Tensor({1, 2, 1}, {0, 0}));
  const Var v = tape.variable(Tensor({1, 2, 1}, {5, 7}));
  const Tensor mask({2, 2}, {0, 0, kForbidden, kForbidden});  // the second query sees no key
  const Attention attention = scaled_dot_product_attention(q, k, v, {.mask = mask});
  tape.backward(attention.output, Tensor({1, 2, 1}, {1, 1}));
  fmt::print("weights {}\noutput  {}\ndv      {}\n", attention.weights.str(),
             attention.output.value().str(), v.grad().str());
}
