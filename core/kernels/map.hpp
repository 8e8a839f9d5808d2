#pragma once

#include <concepts>

#include "core/tensor.hpp"

// Elementwise loops over whole tensors, for the forward and backward rules of elementwise ops.
// Tensors are contiguous, so one flat loop serves every shape.
namespace normlab {

template <std::invocable<double> F>
Tensor map(const Tensor& x, F f) {
  Tensor y = Tensor::uninitialized(x.shape());
  const double* in = x.data();
  double* out = y.mutable_data();
  for (std::int64_t i = 0; i < x.numel(); ++i) out[i] = f(in[i]);
  return y;
}

// f(a, b) elementwise. The shapes must be equal; this is not checked.
template <std::invocable<double, double> F>
Tensor zip(const Tensor& a, const Tensor& b, F f) {
  Tensor y = Tensor::uninitialized(a.shape());
  const double* left = a.data();
  const double* right = b.data();
  double* out = y.mutable_data();
  for (std::int64_t i = 0; i < a.numel(); ++i) out[i] = f(left[i], right[i]);
  return y;
}

}  // namespace normlab
