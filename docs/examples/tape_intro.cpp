// docs/tape.md: one expression, its record and its gradients.
#include <iostream>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"

using namespace normlab;

int main() {
  Parameter w{"w", Tensor({2}, {3, 4})};
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  const Var p = tape.watch(w) * x;
  p.retain_grad();
  const Var loss = sum(square(p) + p);

  tape.dump(std::cout);
  tape.backward(loss);
  std::cout << "loss " << loss.value().str() << "\n"
            << "dp   " << p.grad().str() << "\n"
            << "dw   " << w.grad.str() << "\n"
            << "dx   " << x.grad().str() << "\n";
}
