// Tested by tests/core/ops/attention_test.cpp.
#include "core/kernels/attention_head.hpp"

#include <algorithm>
#include <limits>

#include "core/kernels/blas.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/kernels/small_matmul.hpp"

namespace normlab {

namespace {

// Above about this many multiply-adds BLAS is faster than small_matmul.
constexpr std::int64_t kSmallProduct = 64 * 64 * 64;

// c = factor * a b
void multiply(double factor, ConstMatrix a, ConstMatrix b, MutableMatrix c) {
  if (c.rows * c.columns * a.columns <= kSmallProduct) {
    small_matmul(c.rows, c.columns, a.columns, factor, a.data, a.stride, 1, b.data, b.stride,
                 c.data, c.stride);
    return;
  }
  blas::gemm(c.rows, c.columns, a.columns, {a.data, a.stride}, {b.data, b.stride}, c.data,
             c.stride);
  for (std::int64_t i = 0; factor != 1.0 && i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] *= factor;
  }
}

// c = factor * a^T b
void multiply_transposed(double factor, ConstMatrix a, ConstMatrix b, MutableMatrix c) {
  if (c.rows * c.columns * a.rows <= kSmallProduct) {
    small_matmul(c.rows, c.columns, a.rows, factor, a.data, 1, a.stride, b.data, b.stride, c.data,
                 c.stride);
    return;
  }
  blas::gemm(c.rows, c.columns, a.rows, {a.data, a.stride, blas::Transpose::yes},
             {b.data, b.stride}, c.data, c.stride);
  for (std::int64_t i = 0; factor != 1.0 && i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] *= factor;
  }
}

// x^T, laid out in `storage`: small_matmul wants the rows of its right operand contiguous.
ConstMatrix transposed(ConstMatrix x, double* storage) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.columns; ++j) storage[j * x.rows + i] = x.row(i)[j];
  }
  return {storage, x.columns, x.rows, x.rows};
}

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

// Set, not added, where the key is forbidden: its score may be NaN.
void add_mask(const HeadInputs& in, MutableMatrix scores) {
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    double* row = scores.row(i);
    if (in.mask != nullptr) {
      const double* mask = in.mask + i * in.mask_row;
      for (std::int64_t j = 0; j < scores.columns; ++j) {
        const double term = mask[j * in.mask_column];
        row[j] = term == kForbidden ? kForbidden : row[j] + term;
      }
    }
    for (std::int64_t j = i + 1; in.causal && j < scores.columns; ++j) row[j] = kForbidden;
  }
}

bool is_forbidden(const HeadInputs& in, std::int64_t query, std::int64_t key) {
  if (in.causal && key > query) return true;
  return in.mask != nullptr && in.mask[query * in.mask_row + key * in.mask_column] == kForbidden;
}

bool all_finite(ConstMatrix x) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const double* row = x.row(i);  // 0 * x is NaN for NaN and infinity
    if (lane_sum(x.columns, [row](std::int64_t j) { return 0.0 * row[j]; }) != 0.0) return false;
  }
  return true;
}

// A forbidden pair has weight 0, and a product with 0 is 0 unless the other factor is NaN or
// infinite. Only then do the products below have to leave forbidden pairs out one by one.
bool has_masked_pairs(const HeadInputs& in) { return in.mask != nullptr || in.causal; }

// c = a b over allowed pairs, for a (queries, keys).
void multiply_allowed(const HeadInputs& in, double factor, ConstMatrix a, ConstMatrix b,
                      MutableMatrix c) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(c.row(i), c.columns, 0.0);
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (is_forbidden(in, i, j)) continue;
      for (std::int64_t l = 0; l < c.columns; ++l)
        c.row(i)[l] += factor * a.row(i)[j] * b.row(j)[l];
    }
  }
}

// c = a^T b over allowed pairs, for a (queries, keys).
void multiply_transposed_allowed(const HeadInputs& in, double factor, ConstMatrix a, ConstMatrix b,
                                 MutableMatrix c) {
  for (std::int64_t j = 0; j < c.rows; ++j) std::fill_n(c.row(j), c.columns, 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (is_forbidden(in, i, j)) continue;
      for (std::int64_t l = 0; l < c.columns; ++l)
        c.row(j)[l] += factor * a.row(i)[j] * b.row(i)[l];
    }
  }
}

void clear_forbidden(const HeadInputs& in, MutableMatrix x) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.columns; ++j) {
      if (is_forbidden(in, i, j)) x.row(i)[j] = 0.0;
    }
  }
}

void multiply_elements(const double* factors, MutableMatrix x) {
  for (std::int64_t i = 0; i < x.rows * x.columns; ++i) x.data[i] *= factors[i];
}

// P * keep, in `storage` where there is dropout.
ConstMatrix kept_weights(const HeadInputs& in, ConstMatrix weights, double* storage) {
  if (in.keep == nullptr) return weights;
  std::copy_n(weights.data, weights.rows * weights.columns, storage);
  multiply_elements(in.keep, {storage, weights.rows, weights.columns, weights.columns});
  return {storage, weights.rows, weights.columns, weights.columns};
}

std::size_t elements(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns);
}

}  // namespace

void attention_head_forward(const HeadInputs& in, double* weights, MutableMatrix out,
                            HeadScratch& scratch) {
  const std::int64_t queries = in.q.rows, keys = in.k.rows;
  scratch.resize(std::max(elements(keys, in.k.columns), elements(queries, keys)));
  const MutableMatrix scores{weights, queries, keys, keys};
  multiply(in.scale, in.q, transposed(in.k, scratch.data()), scores);                          // 1
  add_mask(in, scores);                                                                        // 2
  for (std::int64_t i = 0; i < queries; ++i) softmax_row(scores.row(i), scores.row(i), keys);  // 3
  const ConstMatrix kept = kept_weights(in, {weights, queries, keys, keys}, scratch.data());
  if (has_masked_pairs(in) && !all_finite(in.v)) {
    multiply_allowed(in, 1.0, kept, in.v, out);  // 4
  } else {
    multiply(1.0, kept, in.v, out);
  }
}

void attention_head_backward(const HeadInputs& in, const double* weights, ConstMatrix dout,
                             MutableMatrix dq, MutableMatrix dk, MutableMatrix dv,
                             HeadScratch& scratch) {
  const std::int64_t queries = in.q.rows, keys = in.k.rows;
  scratch.resize(elements(queries, keys) +
                 std::max(elements(keys, in.v.columns), elements(queries, keys)));
  const ConstMatrix p{weights, queries, keys, keys};
  const MutableMatrix ds{scratch.data(), queries, keys, keys};
  double* storage = scratch.data() + elements(queries, keys);

  const bool masked = has_masked_pairs(in);
  if (dv.data != nullptr) {
    const ConstMatrix kept = kept_weights(in, p, storage);
    if (masked && !all_finite(dout)) {
      multiply_transposed_allowed(in, 1.0, kept, dout, dv);  // 4
    } else {
      multiply_transposed(1.0, kept, dout, dv);
    }
  }
  if (dq.data == nullptr && dk.data == nullptr) return;
  multiply(1.0, dout, transposed(in.v, storage), ds);
  if (in.keep != nullptr) multiply_elements(in.keep, ds);
  const ConstMatrix ds_value{ds.data, queries, keys, keys};
  const bool all_pairs = !masked || (all_finite(ds_value) && all_finite(in.q) && all_finite(in.k));
  if (!all_pairs) clear_forbidden(in, ds);
  for (std::int64_t i = 0; i < queries; ++i) {
    softmax_row_backward(p.row(i), ds.row(i), ds.row(i), keys);  // 3
  }
  if (all_pairs) {
    if (dq.data != nullptr) multiply(in.scale, ds_value, in.k, dq);  // 1
    if (dk.data != nullptr) multiply_transposed(in.scale, ds_value, in.q, dk);
  } else {
    if (dq.data != nullptr) multiply_allowed(in, in.scale, ds_value, in.k, dq);
    if (dk.data != nullptr) multiply_transposed_allowed(in, in.scale, ds_value, in.q, dk);
  }
}

}  // namespace normlab
