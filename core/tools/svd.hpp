#pragma once

#include <vector>

#include "core/tensor.hpp"

namespace normlab {

// Singular values of a matrix A (m, n) and the right singular vectors v_i: A v_i has length
// values[i]. For matrices of a few hundred columns, such as the Jacobian of a layer.
struct Svd {
  std::vector<double> values;  // n of them, the largest first
  Tensor directions;           // (n, n): row i is v_i
};

// Throws std::invalid_argument unless the tensor is a matrix of finite numbers.
Svd svd(const Tensor& matrix);

}  // namespace normlab
