// P = softmax(scale Q K^T + mask),  O = P V; the arithmetic of one head, forward and backward, is
// in attention_head.cpp. Here: where each head lies in its tensor, and the loop over heads. Saved:
// P, which the backward needs, and the inputs. Tested by tests/core/ops/attention_test.cpp, also
// against its composition from primitive ops.
#include "core/ops/attention.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/kernels/attention_head.hpp"
#include "core/kernels/map.hpp"
#include "core/ops/broadcast.hpp"
#include "core/ops/dropout.hpp"

namespace normlab {

namespace {

// The matrix of head h of sequence n inside a tensor starts at offset + n * sequence + h * head.
struct HeadLayout {
  std::int64_t offset, sequence, head, rows, columns, stride;

  template <typename T>
  MatrixView<T> view(T* data, std::int64_t n, std::int64_t h) const {
    return {data + offset + n * sequence + h * head, rows, columns, stride};
  }
};

struct Operand {
  std::size_t input;  // which of the op's inputs holds it: three for q, k, v, or one for all
  HeadLayout layout;
};

struct Problem {
  std::int64_t sequences, heads;
  Operand q, k, v;
  HeadLayout out;
  Shape out_shape;

  Shape weights_shape() const { return {sequences, heads, q.layout.rows, k.layout.rows}; }
};

// (N, H, rows, columns), heads one after the other.
HeadLayout separate_heads(std::int64_t heads, std::int64_t rows, std::int64_t columns) {
  return {0, heads * rows * columns, rows * columns, rows, columns, columns};
}

// (N, rows, stride) with head h in columns offset + h * columns and on.
HeadLayout side_by_side(std::int64_t offset, std::int64_t rows, std::int64_t columns,
                        std::int64_t stride) {
  return {offset, rows * stride, columns, rows, columns, stride};
}

struct Mask {
  Tensor values;
  std::vector<std::int64_t> strides{0, 0, 0, 0};
};

Mask checked_mask(const Tensor& mask, const Shape& weights_shape) {
  if (!mask.defined()) return {};
  check(mask.rank() <= 4 &&
            broadcast_shapes("attention", mask.shape(), weights_shape) == weights_shape,
        "attention", "mask", "must broadcast to " + weights_shape.str(),
        [&] { return mask.shape().str(); });
  return {mask, broadcast_strides(mask.shape(), weights_shape)};
}

Tensor dropout_factors(const Shape& weights_shape, const AttentionOptions& options) {
  check_probability("attention", "dropout_p", options.dropout_p);
  if (options.dropout_p == 0.0) return {};
  check(options.generator != nullptr, "attention", "generator", "must be given with dropout_p > 0",
        "none");
  return dropout_mask(weights_shape, options.dropout_p, *options.generator);
}

// Everything a head's arithmetic reads, for any head.
struct Saved {
  Problem problem;
  std::vector<Tensor> inputs;
  Tensor weights, keep;
  Mask mask;
  double scale;
  bool causal;

  std::int64_t weights_offset(std::int64_t n, std::int64_t h) const {
    return (n * problem.heads + h) * problem.q.layout.rows * problem.k.layout.rows;
  }

  HeadInputs head(std::int64_t n, std::int64_t h) const {
    const auto view = [&](const Operand& operand) {
      return operand.layout.view(inputs[operand.input].data(), n, h);
    };
    HeadInputs in{view(problem.q), view(problem.k), view(problem.v), scale, causal};
    if (mask.values.defined()) {
      in.mask = mask.values.data() + n * mask.strides[0] + h * mask.strides[1];
      in.mask_row = mask.strides[2];
      in.mask_column = mask.strides[3];
    }
    if (keep.defined()) in.keep = keep.data() + weights_offset(n, h);
    return in;
  }
};

template <typename F>
void for_each_head(const Problem& problem, F f) {
  HeadScratch scratch;
  for (std::int64_t n = 0; n < problem.sequences; ++n) {
    for (std::int64_t h = 0; h < problem.heads; ++h) f(n, h, scratch);
  }
}

// Gradients of the op's inputs, undefined for an input that needs none.
std::vector<Tensor> input_gradients(const Saved& saved, const std::vector<Adjoint>& adjoints,
                                    const Tensor& dout) {
  const Problem& problem = saved.problem;
  std::vector<Tensor> gradients(adjoints.size());
  std::vector<double*> data(adjoints.size(), nullptr);
  for (std::size_t i = 0; i < adjoints.size(); ++i) {
    if (!adjoints[i]) continue;
    gradients[i] = Tensor::uninitialized(saved.inputs[i].shape());
    data[i] = gradients[i].mutable_data();
  }
  for_each_head(problem, [&](std::int64_t n, std::int64_t h, HeadScratch& scratch) {
    const auto gradient = [&](const Operand& operand) {
      double* to = data[operand.input];
      return to == nullptr ? MutableMatrix{} : operand.layout.view(to, n, h);
    };
    attention_head_backward(saved.head(n, h), saved.weights.data() + saved.weights_offset(n, h),
                            problem.out.view(dout.data(), n, h), gradient(problem.q),
                            gradient(problem.k), gradient(problem.v), scratch);
  });
  return gradients;
}

Attention attend(const Problem& problem, const std::vector<Var>& inputs,
                 const AttentionOptions& options) {
  const double width = static_cast<double>(problem.q.layout.columns);
  Saved saved{problem,
              {},
              {},
              dropout_factors(problem.weights_shape(), options),
              checked_mask(options.mask, problem.weights_shape()),
              options.scale == 0.0 ? 1.0 / std::sqrt(width) : options.scale,
              options.causal};
  std::vector<Adjoint> adjoints;
  for (const Var& input : inputs) {
    saved.inputs.push_back(input.value());
    adjoints.emplace_back(input);
  }
  saved.weights = Tensor::uninitialized(problem.weights_shape());
  Tensor out = Tensor::uninitialized(problem.out_shape);
  double* weights = saved.weights.mutable_data();
  double* out_data = out.mutable_data();
  for_each_head(problem, [&](std::int64_t n, std::int64_t h, HeadScratch& scratch) {
    attention_head_forward(saved.head(n, h), weights + saved.weights_offset(n, h),
                           problem.out.view(out_data, n, h), scratch);
  });
  const Tensor attention_weights = saved.weights;
  Var output = record("attention", std::move(out), inputs,
                      [adjoints, saved = std::move(saved)](const Tensor& dout) {
                        std::vector<Tensor> gradients = input_gradients(saved, adjoints, dout);
                        for (std::size_t i = 0; i < adjoints.size(); ++i) {
                          if (adjoints[i]) adjoints[i] += std::move(gradients[i]);
                        }
                      });
  return {std::move(output), attention_weights};
}

// The width of one head of x (N, T, tensors * heads * width).
std::int64_t head_width(const char* argument, const Var& x, std::int64_t heads,
                        std::int64_t tensors = 1) {
  check(heads > 0, "attention", "heads", "must be positive", [&] { return std::to_string(heads); });
  const std::int64_t width = x.value().width();
  check(x.value().rank() == 3 && width % tensors == 0 && width / tensors % heads == 0, "attention",
        argument,
        fmt::format("must be (sequences, tokens, width) with a width that {}{} divides",
                    tensors == 1 ? "" : fmt::format("{} * ", tensors), heads),
        [&] { return x.shape().str(); });
  return width / tensors / heads;
}

Tensor mask_where(const char* op, const char* argument, const Tensor& flags, double forbids) {
  check(flags.defined(), op, argument, "must be a tensor", "none");
  return map(flags, [=](double flag) {
    check(flag == 0.0 || flag == 1.0, op, argument, "must hold only 0 and 1",
          [&] { return fmt::format("{}", flag); });
    return flag == forbids ? -std::numeric_limits<double>::infinity() : 0.0;
  });
}

}  // namespace

Attention scaled_dot_product_attention(const Var& q, const Var& k, const Var& v,
                                       const AttentionOptions& options) {
  const std::int64_t rank = q.value().rank();
  const auto shapes = [&] {
    return q.shape().str() + ", " + k.shape().str() + " and " + v.shape().str();
  };
  check(rank >= 2 && k.value().rank() == rank && v.value().rank() == rank, "attention", "q, k, v",
        "must have the same rank of at least 2", shapes);
  const Shape leading = q.shape().axes(0, rank - 2);
  check(k.shape().axes(0, rank - 2) == leading && v.shape().axes(0, rank - 2) == leading &&
            q.shape()[-1] == k.shape()[-1] && k.shape()[-2] == v.shape()[-2],
        "attention", "q, k, v", "must be (..., Tq, E), (..., Tk, E) and (..., Tk, Ev)", shapes);
  const std::int64_t heads = leading.rank() == 0 ? 1 : leading[-1];
  const std::int64_t sequences = leading.rank() == 0 ? 1 : leading.axes(0, rank - 3).numel();
  const std::int64_t queries = q.shape()[-2], keys = k.shape()[-2], out_width = v.shape()[-1];
  const Problem problem{sequences,
                        heads,
                        {0, separate_heads(heads, queries, q.shape()[-1])},
                        {1, separate_heads(heads, keys, q.shape()[-1])},
                        {2, separate_heads(heads, keys, out_width)},
                        separate_heads(heads, queries, out_width),
                        q.shape().with_axis(-1, out_width)};
  return attend(problem, {q, k, v}, options);
}

Attention multi_head_attention(const Var& q, const Var& k, const Var& v, std::int64_t heads,
                               const AttentionOptions& options) {
  const std::int64_t width = head_width("q", q, heads), out_width = head_width("v", v, heads);
  const std::int64_t sequences = q.shape()[0], queries = q.shape()[1], keys = v.shape()[1];
  check_shape("attention", "k", k.shape(), {sequences, keys, heads * width});
  check_shape("attention", "v", v.shape(), {sequences, keys, heads * out_width});
  const Problem problem{sequences,
                        heads,
                        {0, side_by_side(0, queries, width, heads * width)},
                        {1, side_by_side(0, keys, width, heads * width)},
                        {2, side_by_side(0, keys, out_width, heads * out_width)},
                        side_by_side(0, queries, out_width, heads * out_width),
                        {sequences, queries, heads * out_width}};
  return attend(problem, {q, k, v}, options);
}

Attention self_attention(const Var& qkv, std::int64_t heads, const AttentionOptions& options) {
  const std::int64_t width = head_width("qkv", qkv, heads, 3), all = heads * width;
  const std::int64_t sequences = qkv.shape()[0], tokens = qkv.shape()[1];
  const Problem problem{sequences,
                        heads,
                        {0, side_by_side(0, tokens, width, 3 * all)},
                        {0, side_by_side(all, tokens, width, 3 * all)},
                        {0, side_by_side(2 * all, tokens, width, 3 * all)},
                        side_by_side(0, tokens, width, all),
                        {sequences, tokens, all}};
  return attend(problem, {qkv}, options);
}

Tensor mask_where_forbidden(const Tensor& forbidden) {
  return mask_where("mask_where_forbidden", "forbidden", forbidden, 1.0);
}

Tensor mask_where_allowed(const Tensor& allowed) {
  return mask_where("mask_where_allowed", "allowed", allowed, 0.0);
}

}  // namespace normlab
