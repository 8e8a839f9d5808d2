// docs/architecture.md: the way of a value and of a gradient.
#include <iostream>

#include <fmt/format.h>

#include "core/ops/cross_entropy.hpp"
#include "nn/init.hpp"
#include "nn/layers/linear.hpp"

using namespace normlab;

int main() {
  Generator generator(0);
  Linear classifier(3, 2, generator, {.bias = false});  // 3 features, 2 classes
  init::zeros(classifier.weight.value);

  Tape tape;
  const Var x = tape.constant(Tensor({2, 3}, {1, 2, 3, 3, 2, 1}));  // two examples
  const std::vector<std::int64_t> classes{0, 1};
  const Var loss = cross_entropy(classifier.forward(x), classes);
  tape.backward(loss);

  tape.dump(std::cout);
  std::cout << fmt::format("loss         {:.6f}\n", loss.value().item())
            << fmt::format("weight.grad  {}\n", classifier.weight.grad.str());
}
