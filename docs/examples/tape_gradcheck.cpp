// docs/tape.md: a wrong rule is found; and why the check does not use the sum.
#include <fmt/format.h>

#include "core/kernels/map.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/reduce.hpp"
#include "core/tools/gradcheck.hpp"

using namespace normlab;

// y = x^3, whose backward uses `factor` where 3 is right.
Var cube(const Var& x, double factor) {
  Tensor y = map(x.value(), [](double v) { return v * v * v; });
  Adjoint dx(x);
  return record("cube", std::move(y), {x}, [=, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [factor](double g, double v) { return g * factor * v * v; });
  });
}

int main() {
  const std::vector<Tensor> x{Tensor({4}, {1, 2, 3, 6})};
  for (double factor : {3.0, 3.003}) {
    const GradcheckResult result = check_gradients(
        [factor](const std::vector<Var>& inputs) { return cube(inputs[0], factor); }, x);
    fmt::print("factor {}: {}, error below 2e-3: {}, below 5e-4: {}\n", factor,
               result.passed ? "passed" : "failed", result.worst_relative_error < 2e-3,
               result.worst_relative_error < 5e-4);
  }

  Tape tape;
  const Var row = tape.variable(x[0]);
  const Var y = layer_norm(row, {4});
  const auto gradient_size = [&](const Tensor& seed) {
    return norm(tape.vector_jacobian_product(y, seed, row));
  };
  fmt::print("gradient of sum(layer_norm): {:.4f}\n", gradient_size(Tensor::ones({4})));
  fmt::print("gradient of <layer_norm, r>: {:.4f}\n", gradient_size(Tensor({4}, {1, -1, 2, 0})));
}
