// The backward of each op moves the gradient back to where its element came from. index_select can
// read an element several times; the contributions are then added. Tested by
// tests/core/ops/shape_ops_test.cpp.
#include "core/ops/shape_ops.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/ops/broadcast.hpp"

namespace normlab {

namespace {

Tensor permuted(const Tensor& x, const std::vector<std::int64_t>& dims) {
  const std::vector<std::int64_t> from = contiguous_strides(x.shape());
  std::vector<std::int64_t> extents, strides;
  for (std::int64_t axis : dims) {
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

// Split at `axis`, a tensor is `outer` blocks of (extent of the axis) * inner contiguous elements.
struct AxisSplit {
  std::int64_t outer, inner;
  AxisSplit(const Shape& shape, std::int64_t axis)
      : outer(shape.axes(0, axis).numel()), inner(shape.axes(axis + 1, shape.rank()).numel()) {}
};

// Copies x into `y` so that it fills [first, first + extent of x) along the axis.
void place(const Tensor& x, std::int64_t axis, std::int64_t first, Tensor& y) {
  const AxisSplit split(x.shape(), axis);
  const std::int64_t part = x.shape()[axis] * split.inner;
  const std::int64_t whole = y.shape()[axis] * split.inner;
  double* out = y.mutable_data() + first * split.inner;
  for (std::int64_t i = 0; i < split.outer; ++i) {
    std::copy_n(x.data() + i * part, part, out + i * whole);
  }
}

Tensor sliced(const Tensor& x, std::int64_t axis, std::int64_t first, std::int64_t last) {
  const AxisSplit split(x.shape(), axis);
  Tensor y = Tensor::uninitialized(x.shape().with_axis(axis, last - first));
  const std::int64_t part = (last - first) * split.inner;
  const std::int64_t whole = x.shape()[axis] * split.inner;
  const double* in = x.data() + first * split.inner;
  double* out = y.mutable_data();
  for (std::int64_t i = 0; i < split.outer; ++i) std::copy_n(in + i * whole, part, out + i * part);
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

Var permute(const Var& x, const std::vector<std::int64_t>& dims) {
  const auto rank = static_cast<std::size_t>(x.value().rank());
  std::vector<std::int64_t> forward, back(rank, -1);
  for (std::int64_t axis : dims) {
    forward.push_back(normalize_axis("permute", axis, x.value().rank()));
    back[static_cast<std::size_t>(forward.back())] = std::ssize(forward) - 1;
  }
  check(dims.size() == rank && std::find(back.begin(), back.end(), -1) == back.end(), "permute",
        "dims", "must name each axis of " + x.shape().str() + " once",
        [&] { return fmt::format("({})", fmt::join(dims, ", ")); });
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

Var index_select(const Var& table, std::span<const std::int64_t> indices,
                 std::optional<std::int64_t> no_grad_index) {
  check(table.value().rank() >= 1, "index_select", "table", "must have rows",
        [&] { return table.shape().str(); });
  const std::int64_t count = table.shape()[0];
  const std::int64_t width = count == 0 ? 0 : table.value().numel() / count;
  Tensor y = Tensor::uninitialized(table.shape().with_axis(0, std::ssize(indices)));
  double* out = y.mutable_data();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check(indices[i] >= 0 && indices[i] < count, "index_select", "indices",
          fmt::format("must lie in [0, {})", count),
          [&] { return fmt::format("{} at position {}", indices[i], i); });
    std::copy_n(table.value().data() + indices[i] * width, width,
                out + static_cast<std::int64_t>(i) * width);
  }
  Adjoint dtable(table);
  return record(
      "index_select", std::move(y), {table},
      [dtable, width, no_grad_index, shape = table.shape(),
       rows = std::vector<std::int64_t>(indices.begin(), indices.end())](const Tensor& dy) {
        Tensor g = Tensor::zeros(shape);
        double* to = g.mutable_data();
        const double* from = dy.data();
        for (std::int64_t row : rows) {
          for (std::int64_t j = 0; row != no_grad_index && j < width; ++j) {
            to[row * width + j] += from[j];
          }
          from += width;
        }
        dtable += std::move(g);
      });
}

}  // namespace normlab
