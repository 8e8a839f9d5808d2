// docs/tape.md: where does the infinity come from?
#include <iostream>
#include <stdexcept>

#include "core/ops/activation.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"

using namespace normlab;

int main() {
  Tape tape;
  tape.detect_anomaly(true);
  const Var x = tape.variable(Tensor({3}, {-1, 1, 2}));
  try {
    sum(log(relu(x)));  // a value: log(0)
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << "\n";
  }
  const Var root = sum(pow(relu(x), 0.5));  // finite, but its slope at 0 is not
  try {
    tape.backward(root);
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << "\n";
  }
}
