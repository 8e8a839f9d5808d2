// Tested by tests/nn/layers/dropout_test.cpp.
#include "nn/layers/dropout.hpp"

#include "core/check.hpp"
#include "core/ops/dropout.hpp"

namespace normlab {

Dropout::Dropout(double p, Generator& generator) : p_(p) {
  check_probability("Dropout", "p", p);
  if (p > 0.0) generator_.manual_seed(generator.next64());
  register_generator("generator", generator_);
}

Var Dropout::forward(const Var& x) { return training() ? dropout(x, p_, generator_) : x; }

}  // namespace normlab
