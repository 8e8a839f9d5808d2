#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.hpp"

namespace normlab {

// Tensors with names, in order: the state of an optimizer, the contents of a file.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// nullptr when there is no tensor of that name.
inline const Tensor* find_tensor(const NamedTensors& tensors, std::string_view name) {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

}  // namespace normlab
