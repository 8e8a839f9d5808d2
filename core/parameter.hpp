#pragma once

#include <string>

#include "core/tensor.hpp"

namespace normlab {

// A trainable tensor that lives outside any tape, so that one model serves many passes. A tape
// brings it in with `watch`; `backward` adds to `grad` (never overwrites it) until `zero_grad` is
// called.
struct Parameter {
  std::string name;
  Tensor value;
  Tensor grad{};              // no tensor until the first gradient arrives; then of value's shape
  bool requires_grad = true;  // false: `watch` brings it in as a constant

  void zero_grad() { grad = Tensor(); }
};

}  // namespace normlab
