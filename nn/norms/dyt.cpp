// Tested by tests/nn/norms/dyt_test.cpp.
#include "nn/norms/dyt.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"

namespace normlab {

DyT::DyT(std::int64_t width, double initial_alpha)
    : alpha(register_parameter("alpha", Tensor::full({1}, initial_alpha))),
      weight(register_parameter("weight", Tensor::ones({width}))),
      bias(register_parameter("bias", Tensor::zeros({width}))),
      width_(width) {
  check(width > 0, "DyT", "width", "must be positive", [&] { return std::to_string(width); });
  check(std::isfinite(initial_alpha), "DyT", "alpha", "must be finite",
        std::to_string(initial_alpha));
  register_hyperparameter("norm", "DyT");
}

Var DyT::forward(const Var& x) {
  check(x.value().rank() >= 1 && x.value().width() == width_, "DyT", "x",
        "must have a last axis of " + std::to_string(width_), [&] { return x.shape().str(); });
  Tape& tape = x.tape();
  const Var a = tape.watch(alpha), w = tape.watch(weight), b = tape.watch(bias);
  return w * tanh(a * x) + b;
}

}  // namespace normlab
