// docs/layer-norm.md: the divisor, and one feature.
#include <cmath>

#include <fmt/format.h>

#include "core/ops/layer_norm.hpp"

using namespace normlab;

int main() {
  Tape tape;
  const Var x = tape.variable(Tensor({4}, {1, 2, 3, 6}));
  const Tensor y = layer_norm(x, {4}, std::nullopt, std::nullopt, 0.0).value();
  const double squares = norm(y) * norm(y);  // the mean of y is 0
  fmt::print("variance of the output: {:.4f} with divisor n, {:.4f} with n - 1\n", squares / 4,
             squares / 3);

  const Var one = tape.variable(Tensor({2, 1}, {5, -7}));
  const Var gone = layer_norm(one, {1});
  tape.backward(gone, Tensor::ones({2, 1}));
  fmt::print("over one feature: value {}, gradient {}\n", gone.value().str(), one.grad().str());
}
