// The backward of a movement is the movement back; where an element was read several times
// (gather), the contributions are added. Tested by tests/core/ops/shape_ops_test.cpp.
#include "core/ops/shape_ops.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

namespace {

Tensor permuted(const Tensor& x, const std::vector<std::int64_t>& order) {
  const std::vector<std::int64_t> from = contiguous_strides(x.shape());
  std::vector<std::int64_t> extents, strides;
  for (std::int64_t axis : order) {
    extents.push_back(x.shape()[axis]);
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  }
  Tensor y = Tensor::uninitialized(Shape(extents));
  double* out = y.mutable_data();
  const std::int64_t width = y.width();
  const std::int64_t step = strides.empty() ? 0 : strides.back();
  for_each_row(y.shape(), strides, strides, [&](std::int64_t row, std::int64_t at, std::int64_t) {
    for (std::int64_t j = 0; j < width; ++j) out[row * width + j] = x.data()[at + j * step];
  });
  return y;
}

// Around `axis` a tensor is `outer` blocks of (extent x inner) contiguous elements.
struct AroundAxis {
  std::int64_t outer, inner;
  AroundAxis(const Shape& shape, std::int64_t axis)
      : outer(shape.axes(0, axis).numel()), inner(shape.axes(axis + 1, shape.rank()).numel()) {}
};

// Copies x into `y` so that it fills [first, first + extent of x) along the axis.
void place(const Tensor& x, std::int64_t axis, std::int64_t first, Tensor& y) {
  const AroundAxis around(x.shape(), axis);
  const std::int64_t part = x.shape()[axis] * around.inner;
  const std::int64_t whole = y.shape()[axis] * around.inner;
  double* out = y.mutable_data() + first * around.inner;
  for (std::int64_t i = 0; i < around.outer; ++i) {
    std::copy_n(x.data() + i * part, part, out + i * whole);
  }
}

Tensor sliced(const Tensor& x, std::int64_t axis, std::int64_t first, std::int64_t last) {
  const AroundAxis around(x.shape(), axis);
  Tensor y = Tensor::uninitialized(x.shape().with_axis(axis, last - first));
  const std::int64_t part = (last - first) * around.inner;
  const std::int64_t whole = x.shape()[axis] * around.inner;
  const double* in = x.data() + first * around.inner;
  double* out = y.mutable_data();
  for (std::int64_t i = 0; i < around.outer; ++i) std::copy_n(in + i * whole, part, out + i * part);
  return y;
}

}  // namespace

Var reshape(const Var& x, const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> resolved = extents;
  const auto unknown = std::find(resolved.begin(), resolved.end(), -1);
  if (unknown != resolved.end()) {
    *unknown = 1;
    const std::int64_t known = Shape(resolved).numel();
    check(known > 0 && x.value().numel() % known == 0, "reshape", "extents",
          "must leave a whole number for -1 from " + x.shape().str(),
          [&] { return fmt::format("({})", fmt::join(extents, ", ")); });
    *unknown = x.value().numel() / known;
  }
  Adjoint dx(x);
  return record("reshape", x.value().reshaped(Shape(std::move(resolved))), {x},
                [dx, from = x.shape()](const Tensor& dy) { dx += dy.reshaped(from); });
}

Var permute(const Var& x, const std::vector<std::int64_t>& order) {
  const auto rank = static_cast<std::size_t>(x.value().rank());
  std::vector<std::int64_t> forward, back(rank, -1);
  for (std::int64_t axis : order) {
    forward.push_back(normalize_axis("permute", axis, x.value().rank()));
    back[static_cast<std::size_t>(forward.back())] = std::ssize(forward) - 1;
  }
  check(order.size() == rank && std::find(back.begin(), back.end(), -1) == back.end(), "permute",
        "order", "must name each axis of " + x.shape().str() + " once",
        [&] { return fmt::format("({})", fmt::join(order, ", ")); });
  Adjoint dx(x);
  return record("permute", permuted(x.value(), forward), {x},
                [dx, back](const Tensor& dy) { dx += permuted(dy, back); });
}

Var slice(const Var& x, std::int64_t axis, std::int64_t first, std::int64_t last) {
  const std::int64_t at = normalize_axis("slice", axis, x.value().rank());
  check(0 <= first && first <= last && last <= x.shape()[at], "slice", "range",
        fmt::format("must lie inside axis {} of {}", axis, x.shape().str()),
        [&] { return fmt::format("[{}, {})", first, last); });
  Adjoint dx(x);
  return record("slice", sliced(x.value(), at, first, last), {x},
                [dx, at, first, from = x.shape()](const Tensor& dy) {
                  Tensor g = Tensor::zeros(from);
                  place(dy, at, first, g);
                  dx += std::move(g);
                });
}

Var concat(const std::vector<Var>& parts, std::int64_t axis) {
  check(!parts.empty(), "concat", "parts", "must be at least one", "none");
  const Shape& first_shape = parts.front().shape();
  const std::int64_t at = normalize_axis("concat", axis, first_shape.rank());
  std::int64_t total = 0;
  std::vector<std::pair<Adjoint, std::int64_t>> adjoints;  // with the extent of each part
  for (const Var& part : parts) {
    check(part.value().rank() == first_shape.rank() &&
              part.shape().with_axis(at, 0) == first_shape.with_axis(at, 0),
          "concat", "parts", "must agree in every axis but the joined one",
          [&] { return first_shape.str() + " and " + part.shape().str(); });
    adjoints.emplace_back(Adjoint(part), part.shape()[at]);
    total += part.shape()[at];
  }
  Tensor y = Tensor::uninitialized(first_shape.with_axis(at, total));
  std::int64_t first = 0;
  for (const Var& part : parts) {
    place(part.value(), at, first, y);
    first += part.shape()[at];
  }
  return record("concat", std::move(y), parts, [adjoints, at](const Tensor& dy) {
    std::int64_t start = 0;
    for (const auto& [dpart, extent] : adjoints) {
      if (dpart) dpart += sliced(dy, at, start, start + extent);
      start += extent;
    }
  });
}

Var stack(const std::vector<Var>& parts, std::int64_t axis) {
  check(!parts.empty(), "stack", "parts", "must be at least one", "none");
  const Shape& shape = parts.front().shape();
  const std::int64_t at = normalize_axis("stack", axis, shape.rank() + 1);
  std::vector<std::int64_t> extents = shape.extents();
  extents.insert(extents.begin() + at, 1);
  std::vector<Var> with_new_axis;
  for (const Var& part : parts) {
    check_shape("stack", "parts", part.shape(), shape);
    with_new_axis.push_back(reshape(part, extents));
  }
  return concat(with_new_axis, at);
}

Var gather_rows(const Var& table, std::span<const std::int64_t> rows,
                std::optional<std::int64_t> no_grad_row) {
  check(table.value().rank() >= 1, "gather_rows", "table", "must have rows",
        [&] { return table.shape().str(); });
  const std::int64_t count = table.shape()[0];
  const std::int64_t width = count == 0 ? 0 : table.value().numel() / count;
  Tensor y = Tensor::uninitialized(table.shape().with_axis(0, std::ssize(rows)));
  double* out = y.mutable_data();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check(rows[i] >= 0 && rows[i] < count, "gather_rows", "rows",
          fmt::format("must lie in [0, {})", count),
          [&] { return fmt::format("{} at position {}", rows[i], i); });
    std::copy_n(table.value().data() + rows[i] * width, width,
                out + static_cast<std::int64_t>(i) * width);
  }
  Adjoint dtable(table);
  return record("gather_rows", std::move(y), {table},
                [dtable, width, no_grad_row, shape = table.shape(),
                 index = std::vector<std::int64_t>(rows.begin(), rows.end())](const Tensor& dy) {
                  Tensor g = Tensor::zeros(shape);
                  double* to = g.mutable_data();
                  const double* from = dy.data();
                  for (std::int64_t row : index) {
                    for (std::int64_t j = 0; row != no_grad_row && j < width; ++j) {
                      to[row * width + j] += from[j];
                    }
                    from += width;
                  }
                  dtable += std::move(g);
                });
}

}  // namespace normlab
