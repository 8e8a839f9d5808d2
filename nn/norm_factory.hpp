#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "nn/module.hpp"

namespace normlab {

// Returns a new norm for tokens of this width, (..., width) -> (..., width); never a null pointer.
using NormFactory = std::function<std::unique_ptr<Layer>(std::int64_t width)>;

}  // namespace normlab
