#pragma once

#include <optional>

#include "core/tape.hpp"

namespace normlab {

// The Var of a parameter that a layer may have been built without.
inline std::optional<Var> watch(Tape& tape, Parameter* parameter) {
  if (parameter == nullptr) return std::nullopt;
  return tape.watch(*parameter);
}

}  // namespace normlab
