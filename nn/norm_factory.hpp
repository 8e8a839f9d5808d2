#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "nn/module.hpp"

namespace normlab {

// Makes a normalization layer for tokens of the given width; never a null pointer.
using NormFactory = std::function<std::unique_ptr<Layer>(std::int64_t width)>;

}  // namespace normlab
