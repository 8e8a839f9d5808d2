// A user's first program: includes are written as inside the project.
#include <cstdlib>

#include "core/tensor.hpp"

int main() {
  normlab::Tensor x = normlab::Tensor::ones({2, 3});
  x += normlab::Tensor::full({2, 3}, 1.0);
  return x.at({1, 2}) == 2.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
