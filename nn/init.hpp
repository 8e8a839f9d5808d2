#pragma once

#include "core/random.hpp"
#include "core/tensor.hpp"

// Initializations of torch.nn.init, under its names. Each overwrites its tensor. Matrices are
// (fan_out, fan_in): a layer of n_in inputs and n_out outputs has fan_in n_in and fan_out n_out.
namespace normlab::init {

struct Fans {
  std::int64_t in, out;
};
// Axes after the second (a convolution's receptive field) multiply both. Throws
// std::invalid_argument below rank 2.
Fans fans(const Shape& shape);

// Variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio 2010). On a packed (3d, d)
// in_proj_weight fan_out is 3d, so q, k and v start smaller than three separate (d, d) matrices
// would: at d = 64 the standard deviation is 0.0884 instead of 0.125.
void xavier_uniform(Tensor& tensor, Generator& generator, double gain = 1.0);
void xavier_normal(Tensor& tensor, Generator& generator, double gain = 1.0);

// Variance gain^2 / fan, gain^2 = 2 / (1 + a^2) for a leaky ReLU of negative slope a (He et al.
// 2015).
enum class FanMode { fan_in, fan_out };
void kaiming_uniform(Tensor& tensor, Generator& generator, double a = 0.0,
                     FanMode mode = FanMode::fan_in);
void kaiming_normal(Tensor& tensor, Generator& generator, double a = 0.0,
                    FanMode mode = FanMode::fan_in);

void uniform(Tensor& tensor, Generator& generator, double low, double high);
void normal(Tensor& tensor, Generator& generator, double standard_deviation = 1.0);
void constant(Tensor& tensor, double value);
void zeros(Tensor& tensor);
void ones(Tensor& tensor);

}  // namespace normlab::init
