// Tested by tests/core/tools/jacobian_test.cpp.
#include "core/tools/jacobian.hpp"

#include <algorithm>
#include <cmath>

namespace normlab {

Tensor jacobian(const Var& y, const Var& x) {
  const std::int64_t rows = y.value().numel(), columns = x.value().numel();
  Tensor result = Tensor::uninitialized({rows, columns});
  double* out = result.mutable_data();
  for (std::int64_t row = 0; row < rows; ++row) {
    Tensor unit = Tensor::zeros(y.shape());
    unit.mutable_data()[row] = 1.0;
    const Tensor product = y.tape().vector_jacobian_product(y, unit, x);
    std::copy_n(product.data(), columns, out + row * columns);
  }
  return result;
}

Tensor numerical_jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                          double step) {
  const std::int64_t columns = x.numel(), rows = f(x).numel();
  Tensor result = Tensor::uninitialized({rows, columns});
  double* out = result.mutable_data();
  for (std::int64_t column = 0; column < columns; ++column) {
    const double at = x.data()[column], h = step * std::max(1.0, std::abs(at));
    Tensor above = x, below = x;
    above.mutable_data()[column] = at + h;
    below.mutable_data()[column] = at - h;
    const double distance = above.data()[column] - below.data()[column];  // 2 h as it was rounded
    const Tensor f_above = f(above), f_below = f(below);
    for (std::int64_t row = 0; row < rows; ++row) {
      out[row * columns + column] = (f_above.data()[row] - f_below.data()[row]) / distance;
    }
  }
  return result;
}

}  // namespace normlab
