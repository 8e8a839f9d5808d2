// y = x * m with a mask m of 0 and 1 / (1 - p):  dx = dy * m
// Tested by tests/core/ops/dropout_test.cpp.
#include "core/ops/dropout.hpp"

#include "core/check.hpp"
#include "core/kernels/map.hpp"

namespace normlab {

Tensor dropout_mask(const Shape& shape, double p, Generator& generator) {
  const double factor = p == 1.0 ? 0.0 : 1.0 / (1.0 - p);
  return map(generator.bernoulli(shape, 1.0 - p), [factor](double kept) { return factor * kept; });
}

Var dropout(const Var& x, double p, Generator& generator) {
  check_probability("dropout", "p", p);
  if (p == 0.0) return x;
  const Tensor mask = dropout_mask(x.shape(), p, generator);
  Adjoint dx(x);
  return record("dropout", zip(x.value(), mask, std::multiplies<>{}), {x},
                [dx, mask](const Tensor& dy) { dx += zip(dy, mask, std::multiplies<>{}); });
}

}  // namespace normlab
