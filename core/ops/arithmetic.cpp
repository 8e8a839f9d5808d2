// y = a + b:  da = dy         db = dy
// y = a - b:  da = dy         db = -dy
// y = a * b:  da = dy * b     db = dy * a
// y = a / b:  da = dy / b     db = -dy * y / b
// each summed over the axes that were broadcast (sum_to).
// Tested by tests/core/ops/arithmetic_test.cpp.
#include "core/ops/arithmetic.hpp"

#include "core/kernels/map.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

Var add(const Var& a, const Var& b) {
  Tensor y = broadcast_zip("add", a.value(), b.value(), std::plus<>{});
  Adjoint da(a), db(b);
  return record("add", std::move(y), {a, b},
                [da, db, shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) {
                  if (da) da += sum_to(dy, shape_a);
                  if (db) db += sum_to(dy, shape_b);
                });
}

Var sub(const Var& a, const Var& b) {
  Tensor y = broadcast_zip("sub", a.value(), b.value(), std::minus<>{});
  Adjoint da(a), db(b);
  return record("sub", std::move(y), {a, b},
                [da, db, shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) {
                  if (da) da += sum_to(dy, shape_a);
                  if (db) db += sum_to(map(dy, std::negate<>{}), shape_b);
                });
}

Var mul(const Var& a, const Var& b) {
  Tensor y = broadcast_zip("mul", a.value(), b.value(), std::multiplies<>{});
  Adjoint da(a), db(b);
  return record("mul", std::move(y), {a, b},
                [da, db, x_a = a.value(), x_b = b.value()](const Tensor& dy) {
                  if (da)
                    da += sum_to(broadcast_zip("mul", dy, x_b, std::multiplies<>{}), x_a.shape());
                  if (db)
                    db += sum_to(broadcast_zip("mul", dy, x_a, std::multiplies<>{}), x_b.shape());
                });
}

Var div(const Var& a, const Var& b) {
  Tensor y = broadcast_zip("div", a.value(), b.value(), std::divides<>{});
  Adjoint da(a), db(b);
  return record(
      "div", y, {a, b}, [da, db, y, shape_a = a.shape(), x_b = b.value()](const Tensor& dy) {
        const Tensor dy_over_b = broadcast_zip("div", dy, x_b, std::divides<>{});
        if (da) da += sum_to(dy_over_b, shape_a);
        if (db) {
          db += sum_to(zip(dy_over_b, y, [](double g, double q) { return -g * q; }), x_b.shape());
        }
      });
}

Var neg(const Var& x) {
  Adjoint dx(x);
  return record("neg", map(x.value(), std::negate<>{}), {x},
                [dx](const Tensor& dy) { dx += map(dy, std::negate<>{}); });
}

Var scale(const Var& x, double factor) {
  const auto times_factor = [factor](double value) { return factor * value; };
  Adjoint dx(x);
  return record("scale", map(x.value(), times_factor), {x},
                [dx, times_factor](const Tensor& dy) { dx += map(dy, times_factor); });
}

// Not by the reciprocal, which rounds once more and overflows for a subnormal divisor.
Var div(const Var& x, double divisor) {
  const auto over_divisor = [divisor](double value) { return value / divisor; };
  Adjoint dx(x);
  return record("div", map(x.value(), over_divisor), {x},
                [dx, over_divisor](const Tensor& dy) { dx += map(dy, over_divisor); });
}

Var shift(const Var& x, double term) {
  Adjoint dx(x);
  return record("shift", map(x.value(), [term](double value) { return value + term; }), {x},
                [dx](const Tensor& dy) { dx += dy; });
}

}  // namespace normlab
