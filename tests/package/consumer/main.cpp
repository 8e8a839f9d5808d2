// A user's first program: includes are written as inside the project.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/ops/arithmetic.hpp"
#include "core/ops/reduce.hpp"
#include "nn/norms/layer_norm.hpp"

using namespace normlab;

// LayerNorm of one token (1, 2, 3, 6), weighted by (0, 0, 0, 1) and summed. The numbers by hand:
// mean 3, variance 3.5, so with r = 1 / sqrt(3.5 + eps) the output is 3 r, and its gradient is
// r ((0, 0, 0, 1) - 1/4 - (x - 3) * 3/4 * r^2).
int main() {
  LayerNorm layer_norm(4);
  Parameter token{"token", Tensor({1, 4}, {1.0, 2.0, 3.0, 6.0})};
  Tape tape;
  const Var weighted =
      layer_norm.forward(tape.watch(token)) * tape.constant(Tensor({4}, {0.0, 0.0, 0.0, 1.0}));
  const Var y = sum(weighted);
  tape.backward(y);

  const double r = 1.0 / std::sqrt(3.5 + 1e-5);
  double error = std::abs(y.value().item() - 3.0 * r);
  for (std::int64_t i = 0; i < 4; ++i) {
    const double centred = token.value.at({0, i}) - 3.0;
    const double expected = r * ((i == 3 ? 0.75 : -0.25) - centred * 0.75 * r * r);
    error = std::fmax(error, std::abs(token.grad.at({0, i}) - expected));
  }
  std::printf("LayerNorm's value and gradient are off by %.1e\n", error);
  return error < 1e-15 ? EXIT_SUCCESS : EXIT_FAILURE;
}
