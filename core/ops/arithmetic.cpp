// y = a + b:  da = dy         db = dy
// y = a - b:  da = dy         db = -dy
// y = a * b:  da = dy * b     db = dy * a
// y = a / b:  da = dy / b     db = -dy * y / b
// each summed over the axes that were broadcast (sum_to).
// Tested by tests/core/ops/arithmetic_test.cpp.
#include "core/ops/arithmetic.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
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

// y = a^b:  da = dy * b a^(b-1)         db = dy * y ln a
Var pow(const Var& base, const Var& exponent) {
  const auto power = [](double a, double b) { return std::pow(a, b); };
  Tensor y = broadcast_zip("pow", base.value(), exponent.value(), power);
  Adjoint da(base), db(exponent);
  return record("pow", std::move(y), {base, exponent},
                [da, db, a = base.value(), b = exponent.value()](const Tensor& dy) {
                  if (da) {
                    const Tensor slope = broadcast_zip("pow", a, b, [](double v, double p) {
                      return p == 0.0 ? 0.0 : p * std::pow(v, p - 1.0);
                    });
                    da += sum_to(zip(dy, slope, std::multiplies<>{}), a.shape());
                  }
                  if (db) {
                    const Tensor slope = broadcast_zip("pow", a, b, [](double v, double p) {
                      return v == 0.0 && p >= 0.0 ? 0.0 : std::pow(v, p) * std::log(v);
                    });
                    db += sum_to(zip(dy, slope, std::multiplies<>{}), b.shape());
                  }
                });
}

Var where(const Tensor& condition, const Var& a, const Var& b) {
  const Shape pair = broadcast_shapes("where", a.shape(), b.shape());
  const Shape shape = broadcast_shapes("where", condition.shape(), pair);
  const auto repeated = [&shape](const Tensor& x) {
    return broadcast_zip("where", x, Tensor::uninitialized(shape),
                         [](double v, double) { return v; });
  };
  const Tensor mask = map(repeated(condition), [](double flag) {
    check(flag == 0.0 || flag == 1.0, "where", "condition", "must hold only 0 and 1",
          [&] { return fmt::format("{}", flag); });
    return flag;
  });
  const Tensor from_a = repeated(a.value()), from_b = repeated(b.value());
  Tensor y = Tensor::uninitialized(shape);
  double* out = y.mutable_data();
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    out[i] = mask.data()[i] == 1.0 ? from_a.data()[i] : from_b.data()[i];
  }
  Adjoint da(a), db(b);
  return record("where", std::move(y), {a, b},
                [da, db, mask, shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) {
                  const auto selected = [&](double flag) {
                    return zip(dy, mask,
                               [flag](double g, double m) { return m == flag ? g : 0.0; });
                  };
                  if (da) da += sum_to(selected(1.0), shape_a);
                  if (db) db += sum_to(selected(0.0), shape_b);
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
