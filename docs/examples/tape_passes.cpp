// docs/tape.md: several passes, and what is recorded at all.
#include <iostream>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"

using namespace normlab;

int main() {
  Parameter w{"w", Tensor({2}, {3, 4})};
  Tape tape;
  const Var y = square(tape.watch(w));

  tape.backward(y, Tensor({2}, {1, 0}));  // the first row of the Jacobian
  std::cout << "after one pass    " << w.grad.str() << "\n";
  tape.backward(y, Tensor({2}, {1, 1}));  // added to the first
  std::cout << "after two passes  " << w.grad.str() << "\n";

  w.zero_grad();
  tape.clear();  // y is refused from here on; w lives on
  tape.backward(square(tape.watch(w)), Tensor({2}, {1, 1}));
  std::cout << "after zero_grad   " << w.grad.str() << "\n";

  tape.clear();
  {
    const Tape::NoGrad no_grad(tape);
    const Var value = square(tape.watch(w));
    std::cout << "under NoGrad      " << value.value().str() << ", nodes " << tape.size() << "\n";
  }
  const Var constant = tape.constant(Tensor({2}, {1, 2}));
  const Var z = constant * constant + tape.watch(w);  // the product needs no gradient
  std::cout << "needs_grad        " << z.needs_grad() << ", nodes " << tape.size() << "\n";
}
