// README.md: a layer of one's own, and its gradient.
#include <fmt/format.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "nn/module.hpp"

using namespace normlab;

// Divides every row by its largest magnitude; then a learned g says how large that one becomes.
class PeakNorm : public Layer {
 public:
  explicit PeakNorm(double peak) : g(register_parameter("g", Tensor::scalar(peak))) {}

  Var forward(const Var& x) override {
    return x.tape().watch(g) * x / max(abs(x), {-1}, /*keepdim=*/true);
  }

  Parameter& g;
};

int main() {
  PeakNorm norm(10.0);
  Tape tape;
  const Var x = tape.variable(Tensor({2, 2}, {3, 4, 12, 16}));  // two rows, the second one longer
  const Var y = norm.forward(x);
  tape.backward(y, Tensor({2, 2}, {1, 0, 1, 0}));  // of the sum of the rows' first elements
  fmt::print("y   {}\ndx  {}\ndg  {}\n", y.value().str(), x.grad().str(), norm.g.grad.str());
}
