// Tested by tests/nn/init_test.cpp.
#include "nn/init.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace normlab::init {

namespace {

double xavier_deviation(const Shape& shape, double gain) {
  const Fans f = fans(shape);
  return gain * std::sqrt(2.0 / static_cast<double>(f.in + f.out));
}

double kaiming_deviation(const Shape& shape, double a, FanMode mode) {
  const Fans f = fans(shape);
  const auto fan = static_cast<double>(mode == FanMode::fan_in ? f.in : f.out);
  return std::sqrt(2.0 / (1.0 + a * a) / fan);
}

// A uniform distribution on [-b, b] has variance b^2 / 3.
void uniform_of_deviation(Tensor& tensor, Generator& generator, double deviation) {
  const double bound = std::sqrt(3.0) * deviation;
  uniform(tensor, generator, -bound, bound);
}

}  // namespace

Fans fans(const Shape& shape) {
  check(shape.rank() >= 2, "init", "tensor", "must have at least 2 axes to have fans",
        [&] { return shape.str(); });
  const std::int64_t receptive_field = shape.axes(2, shape.rank()).numel();
  return {shape[1] * receptive_field, shape[0] * receptive_field};
}

void xavier_uniform(Tensor& tensor, Generator& generator, double gain) {
  uniform_of_deviation(tensor, generator, xavier_deviation(tensor.shape(), gain));
}

void xavier_normal(Tensor& tensor, Generator& generator, double gain) {
  normal(tensor, generator, xavier_deviation(tensor.shape(), gain));
}

void kaiming_uniform(Tensor& tensor, Generator& generator, double a, FanMode mode) {
  uniform_of_deviation(tensor, generator, kaiming_deviation(tensor.shape(), a, mode));
}

void kaiming_normal(Tensor& tensor, Generator& generator, double a, FanMode mode) {
  normal(tensor, generator, kaiming_deviation(tensor.shape(), a, mode));
}

void uniform(Tensor& tensor, Generator& generator, double low, double high) {
  generator.fill_uniform(tensor.mutable_values(), low, high);
}

void normal(Tensor& tensor, Generator& generator, double standard_deviation) {
  generator.fill_normal(tensor.mutable_values());
  for (double& value : tensor.mutable_values()) value *= standard_deviation;
}

void constant(Tensor& tensor, double value) { std::ranges::fill(tensor.mutable_values(), value); }

void zeros(Tensor& tensor) { constant(tensor, 0.0); }

void ones(Tensor& tensor) { constant(tensor, 1.0); }

}  // namespace normlab::init
