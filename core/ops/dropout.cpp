// y = x * m with a mask m of 0 and 1 / (1 - p):  dx = dy * m
// Tested by tests/core/ops/dropout_test.cpp.
#include "core/ops/dropout.hpp"

#include "core/check.hpp"
#include "core/kernels/map.hpp"

namespace normlab {

Var dropout(const Var& x, double p, Generator& generator) {
  check_probability("dropout", "p", p);
  if (p == 0.0) return x;
  const double kept = p == 1.0 ? 0.0 : 1.0 / (1.0 - p);
  const Tensor mask =
      map(generator.bernoulli(x.shape(), 1.0 - p), [kept](double m) { return kept * m; });
  Adjoint dx(x);
  return record("dropout", zip(x.value(), mask, std::multiplies<>{}), {x},
                [dx, mask](const Tensor& dy) { dx += zip(dy, mask, std::multiplies<>{}); });
}

}  // namespace normlab
