// Every reduction has a result in which the reduced axes have extent 1; broadcasting it gives x's
// shape again.
//   y = sum x:   dx = dy repeated
//   y = mean x:  dx = dy / count, repeated
//   y = max x:   dx = dy / ties where x equals y, else 0
// Tested by tests/core/ops/reduce_test.cpp.
#include "core/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

namespace {

struct Reduction {
  Shape kept;    // reduced axes with extent 1
  Shape result;  // as the caller asked: kept, or without the reduced axes
  std::int64_t count = 1;
};

Reduction plan(const std::string& op, const Shape& shape, const Axes& axes, bool keepdim) {
  std::vector<bool> reduced(shape.extents().size(), axes.empty());
  for (std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(normalize_axis(op, axis, shape.rank()));
    check(!reduced[at], op, "axes", "must name an axis once", [&] { return std::to_string(axis); });
    reduced[at] = true;
  }
  Reduction reduction;
  std::vector<std::int64_t> kept, result;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
    const std::int64_t extent = shape.extents()[axis];
    kept.push_back(reduced[axis] ? 1 : extent);
    if (reduced[axis]) reduction.count *= extent;
    if (!reduced[axis] || keepdim) result.push_back(kept.back());
  }
  reduction.kept = Shape(std::move(kept));
  reduction.result = Shape(std::move(result));
  return reduction;
}

// dy times a factor, broadcast to `shape`.
Tensor repeat(const Tensor& dy, const Shape& kept, const Shape& shape, double factor) {
  return broadcast_zip("repeat", dy.reshaped(kept), Tensor::uninitialized(shape),
                       [factor](double g, double) { return factor * g; });
}

// NaN wins over every number.
double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

Tensor max_to(const Tensor& x, const Shape& kept) {
  Tensor y = Tensor::full(kept, -std::numeric_limits<double>::infinity());
  double* out = y.mutable_data();
  const std::vector<std::int64_t> strides = broadcast_strides(kept, x.shape());
  const std::int64_t step = x.rank() == 0 ? 0 : strides.back();
  for_each_row(x.shape(), strides, strides, [&](std::int64_t row, std::int64_t at, std::int64_t) {
    const double* in = x.data() + row * x.width();
    for (std::int64_t j = 0; j < x.width(); ++j) {
      out[at + j * step] = larger(in[j], out[at + j * step]);
    }
  });
  return y;
}

Var scaled_sum(const char* op, const Var& x, const Reduction& to, double factor) {
  Tensor y = map(sum_to(x.value(), to.kept), [factor](double s) { return factor * s; });
  Adjoint dx(x);
  return record(op, y.reshaped(to.result), {x},
                [dx, to, shape = x.shape(), factor](const Tensor& dy) {
                  dx += repeat(dy, to.kept, shape, factor);
                });
}

// Running sums along `axis`, from the first element or, backwards, from the last.
Tensor running_sums(const Tensor& x, std::int64_t axis, bool backwards) {
  const std::int64_t outer = x.shape().axes(0, axis).numel(), extent = x.shape()[axis];
  const std::int64_t inner = x.shape().axes(axis + 1, x.rank()).numel();
  Tensor y = x;
  double* block = y.mutable_data();
  for (std::int64_t o = 0; o < outer; ++o, block += extent * inner) {
    for (std::int64_t k = 1; k < extent; ++k) {
      double* to = block + (backwards ? extent - 1 - k : k) * inner;
      const double* before = backwards ? to + inner : to - inner;
      for (std::int64_t i = 0; i < inner; ++i) to[i] += before[i];
    }
  }
  return y;
}

}  // namespace

// y = cumsum x:  dx = running sums of dy from the last element
Var cumsum(const Var& x, std::int64_t axis) {
  const std::int64_t at = normalize_axis("cumsum", axis, x.value().rank());
  Adjoint dx(x);
  return record("cumsum", running_sums(x.value(), at, false), {x},
                [dx, at](const Tensor& dy) { dx += running_sums(dy, at, true); });
}

Var sum(const Var& x, const Axes& axes, bool keepdim) {
  return scaled_sum("sum", x, plan("sum", x.shape(), axes, keepdim), 1.0);
}

Var mean(const Var& x, const Axes& axes, bool keepdim) {
  const Reduction to = plan("mean", x.shape(), axes, keepdim);
  check(to.count > 0, "mean", "x", "must have elements along the reduced axes",
        [&] { return x.shape().str(); });
  return scaled_sum("mean", x, to, 1.0 / static_cast<double>(to.count));
}

Var max(const Var& x, const Axes& axes, bool keepdim) {
  const Reduction to = plan("max", x.shape(), axes, keepdim);
  check(to.count > 0, "max", "x", "must have elements along the reduced axes",
        [&] { return x.shape().str(); });
  const Tensor y = max_to(x.value(), to.kept);
  Adjoint dx(x);
  return record(
      "max", y.reshaped(to.result), {x}, [dx, y, to, value = x.value()](const Tensor& dy) {
        const Tensor is_max = broadcast_zip("max", value, y, [](double v, double top) {
          return v == top || (std::isnan(v) && std::isnan(top)) ? 1.0 : 0.0;
        });
        const Tensor share = zip(dy.reshaped(to.kept), sum_to(is_max, to.kept), std::divides<>{});
        dx += broadcast_zip("max", is_max, share, std::multiplies<>{});
      });
}

}  // namespace normlab
