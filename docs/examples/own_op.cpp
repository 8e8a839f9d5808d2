// docs/architecture.md: an op of one's own, and its gradient check.
#include <cmath>

#include <fmt/format.h>

#include "core/kernels/map.hpp"
#include "core/random.hpp"
#include "core/tools/gradcheck.hpp"

using namespace normlab;

// y = ln(1 + e^x):  dx = dy / (1 + e^-x)
Var softplus(const Var& x) {
  Tensor y = map(x.value(), [](double v) { return std::log1p(std::exp(v)); });
  Adjoint dx(x);
  return record("softplus", std::move(y), {x}, [dx, value = x.value()](const Tensor& dy) {
    dx += zip(dy, value, [](double g, double v) { return g / (1.0 + std::exp(-v)); });
  });
}

int main() {
  const auto f = [](const std::vector<Var>& inputs) { return softplus(inputs[0]); };
  Generator generator(0);
  const GradcheckResult result = check_gradients(f, {generator.randn({4, 3})});
  fmt::print("gradient of softplus: {}\n", result.passed ? "right" : "wrong");
}
