#pragma once

#include <string>

#include "core/tensor.hpp"

namespace normlab {

// A trainable tensor that lives outside any tape, so one model serves many passes. `Tape::watch`
// brings it onto a tape; `backward` adds to `grad` and never overwrites it, until `zero_grad` is
// called.
struct Parameter {
  std::string name;
  Tensor value;
  Tensor grad{};              // undefined until the first gradient arrives; then of value's shape
  bool requires_grad = true;  // false: `watch` makes a constant of it

  void zero_grad() { grad = Tensor(); }
};

}  // namespace normlab
